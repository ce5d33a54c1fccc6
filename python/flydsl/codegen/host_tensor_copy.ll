; The tensor data mover of gfx1250 on the host: one tile between global memory and a workgroup's shared memory.
;
; %f is a table of 64-bit numbers, in this order:
;   0 global address   1 LDS address   2 bytes of an element   3 padding interval in bytes (0: none)   4 padding in bytes
;   5..9 extents of the tensor, fastest dimension first   10..14 extents of the tile   15..18 strides in elements
;   19 whether rows are gathered   20.. the rows' numbers
; A tile is laid out in LDS in one run, fastest dimension first. What lies outside the tensor arrives as zero and is
; not stored.

define internal i64 @fly.tensor_field(ptr %f, i64 %index) {
  %p = getelementptr i64, ptr %f, i64 %index
  %v = load i64, ptr %p
  ret i64 %v
}

; The place in LDS of the byte %n of a tile, with padding counted in.
define internal i64 @fly.tensor_place(ptr %f, i64 %n) {
entry:
  %interval = call i64 @fly.tensor_field(ptr %f, i64 3)
  %none = icmp eq i64 %interval, 0
  br i1 %none, label %plain, label %padded
plain:
  ret i64 %n
padded:
  %amount = call i64 @fly.tensor_field(ptr %f, i64 4)
  %times = udiv i64 %n, %interval
  %more = mul i64 %times, %amount
  %place = add i64 %n, %more
  ret i64 %place
}

; One element, or a zero for it.
define internal void @fly.tensor_element(ptr %f, ptr %global, ptr %local, i1 %inside, i1 %store) {
entry:
  %size = call i64 @fly.tensor_field(ptr %f, i64 2)
  br i1 %store, label %out, label %in
out:
  br i1 %inside, label %write, label %done
write:
  call void @llvm.memcpy.p0.p0.i64(ptr %global, ptr %local, i64 %size, i1 false)
  br label %done
in:
  br i1 %inside, label %read, label %clear
read:
  call void @llvm.memcpy.p0.p0.i64(ptr %local, ptr %global, i64 %size, i1 false)
  br label %done
clear:
  call void @llvm.memset.p0.i64(ptr %local, i8 0, i64 %size, i1 false)
  br label %done
done:
  ret void
}

; The element %n of the tile: its coordinates, whether they lie in the tensor, and both addresses.
define internal void @fly.tensor_move(ptr %f, ptr %shared, i64 %n, i1 %store) {
entry:
  %size = call i64 @fly.tensor_field(ptr %f, i64 2)
  %gather = call i64 @fly.tensor_field(ptr %f, i64 19)
  %gathers = icmp ne i64 %gather, 0
  br label %dimension
dimension:
  %k = phi i64 [ 0, %entry ], [ %k1, %next ]
  %left = phi i64 [ %n, %entry ], [ %left1, %next ]
  %offset = phi i64 [ 0, %entry ], [ %offset1, %next ]
  %inside = phi i1 [ true, %entry ], [ %inside1, %next ]
  %tk = add i64 %k, 10
  %tile = call i64 @fly.tensor_field(ptr %f, i64 %tk)
  %dk = add i64 %k, 5
  %extent = call i64 @fly.tensor_field(ptr %f, i64 %dk)
  %counted = urem i64 %left, %tile
  %left1 = udiv i64 %left, %tile
  %second = icmp eq i64 %k, 1
  %row = and i1 %second, %gathers
  br i1 %row, label %listed, label %next
listed:
  %rk = add i64 %counted, 20
  %number = call i64 @fly.tensor_field(ptr %f, i64 %rk)
  br label %next
next:
  %x = phi i64 [ %counted, %dimension ], [ %number, %listed ]
  %fits = icmp ult i64 %x, %extent
  %inside1 = and i1 %inside, %fits
  %first = icmp eq i64 %k, 0
  %sk = add i64 %k, 14
  %safe = select i1 %first, i64 15, i64 %sk
  %found = call i64 @fly.tensor_field(ptr %f, i64 %safe)
  %stride = select i1 %first, i64 1, i64 %found
  %step = mul i64 %x, %stride
  %offset1 = add i64 %offset, %step
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, 5
  br i1 %more, label %dimension, label %go
go:
  %base = call i64 @fly.tensor_field(ptr %f, i64 0)
  %bytes = mul i64 %offset1, %size
  %address = add i64 %base, %bytes
  %global = inttoptr i64 %address to ptr
  %nb = mul i64 %n, %size
  %place = call i64 @fly.tensor_place(ptr %f, i64 %nb)
  %lds = call i64 @fly.tensor_field(ptr %f, i64 1)
  %at = add i64 %lds, %place
  %local = getelementptr i8, ptr %shared, i64 %at
  call void @fly.tensor_element(ptr %f, ptr %global, ptr %local, i1 %inside1, i1 %store)
  ret void
}

define internal i64 @fly.tensor_elements(ptr %f) {
  %t0 = call i64 @fly.tensor_field(ptr %f, i64 10)
  %t1 = call i64 @fly.tensor_field(ptr %f, i64 11)
  %t2 = call i64 @fly.tensor_field(ptr %f, i64 12)
  %t3 = call i64 @fly.tensor_field(ptr %f, i64 13)
  %t4 = call i64 @fly.tensor_field(ptr %f, i64 14)
  %a = mul i64 %t0, %t1
  %b = mul i64 %a, %t2
  %c = mul i64 %b, %t3
  %total = mul i64 %c, %t4
  ret i64 %total
}

; Where the tile ends in LDS: behind its last element; 0 for a tile without any.
define internal i64 @fly.tensor_end(ptr %f) {
entry:
  %total = call i64 @fly.tensor_elements(ptr %f)
  %empty = icmp eq i64 %total, 0
  br i1 %empty, label %nothing, label %some
nothing:
  ret i64 0
some:
  %size = call i64 @fly.tensor_field(ptr %f, i64 2)
  %last = sub i64 %total, 1
  %nb = mul i64 %last, %size
  %place = call i64 @fly.tensor_place(ptr %f, i64 %nb)
  %lds = call i64 @fly.tensor_field(ptr %f, i64 1)
  %at = add i64 %lds, %place
  %end = add i64 %at, %size
  ret i64 %end
}

define internal void @fly.tensor_copy(ptr %f, ptr %shared, i1 %store) {
entry:
  %total = call i64 @fly.tensor_elements(ptr %f)
  %empty = icmp eq i64 %total, 0
  br i1 %empty, label %done, label %loop
loop:
  %n = phi i64 [ 0, %entry ], [ %n1, %loop ]
  call void @fly.tensor_move(ptr %f, ptr %shared, i64 %n, i1 %store)
  %n1 = add i64 %n, 1
  %again = icmp ult i64 %n1, %total
  br i1 %again, label %loop, label %done
done:
  ret void
}
