; A whole call of compiled code from the tuple of its Python arguments: read, check, pack, launch.
;
; %plan is a table of 64-bit words that `compiler/native_call.py` writes; %args the tuple; %report takes what a failing
; launch says. The answer is the launch's status, or -1000000 when the arguments are not those of the plan; then
; nothing was done. The caller holds the interpreter's lock, which is given up while the launch is made.
;
; Words of the plan: 0 entry, 1 DLPack's reader, 2 tensor type, 3 parameter type, 4 is_neg, 5 False, 6 None, 7 int type,
; 8 float type, 9 bytes of the block, 10 number of arguments, 11 SaveThread, 12 RestoreThread, 13 Tuple_GetItem,
; 14 CallOneArg, 15 AsLongLongAndOverflow, 16 Float_AsDouble, 17 DecRef, 18 Err_Clear, 19 place of the hidden stream or
; -1, 20 Tuple_Size, 21 GetAttr, 22 the lowest address of memory, 23 RichCompareBool; then one row per argument, which
; starts with its kind and its length in words. That of an adaptor is in front of that of the tensor inside.

%tensor = type { ptr, i32, i32, i32, i32, ptr, ptr, i64 }
;                data  device    rank dtype shape strides offset

define internal i64 @word(ptr %plan, i64 %i) alwaysinline {
  %p = getelementptr i64, ptr %plan, i64 %i
  %v = load i64, ptr %p
  ret i64 %v
}

define internal ptr @object(ptr %plan, i64 %i) alwaysinline {
  %p = getelementptr i64, ptr %plan, i64 %i
  %v = load ptr, ptr %p
  ret ptr %v
}

define internal ptr @type_of(ptr %o) alwaysinline {
  %p = getelementptr i8, ptr %o, i64 8
  %t = load ptr, ptr %p
  ret ptr %t
}

; A leaf of a shape or stride: row words are the fixed value or -1, the place in the block, its bytes, the mask of a
; divisor. False if the value is not one the code accepts.
define internal i1 @leaf(ptr %row, i64 %value, ptr %block) alwaysinline {
  %fixed = call i64 @word(ptr %row, i64 0)
  %open = icmp eq i64 %fixed, -1
  br i1 %open, label %dynamic, label %static
static:
  %same = icmp eq i64 %fixed, %value
  ret i1 %same
dynamic:
  %mask = call i64 @word(ptr %row, i64 3)
  %rest = and i64 %value, %mask
  %divides = icmp eq i64 %rest, 0
  %at = call i64 @word(ptr %row, i64 1)
  %place = getelementptr i8, ptr %block, i64 %at
  %size = call i64 @word(ptr %row, i64 2)
  %wide = icmp eq i64 %size, 8
  br i1 %wide, label %long, label %short
long:
  store i64 %value, ptr %place, align 1
  ret i1 %divides
short:
  %cut = trunc i64 %value to i32
  %back = sext i32 %cut to i64
  %fits = icmp eq i64 %back, %value
  store i32 %cut, ptr %place, align 1
  %ok = and i1 %fits, %divides
  ret i1 %ok
}

; A torch tensor. Row: 0 kind, 1 length, 2 dtype, 3 device, 4 rank, 5 alignment mask, 6 place of the pointer,
; 7 modes in front of the unit stride that must not have one too, then four words per extent and per stride. An address
; below word 22 of the plan is refused: there is no memory, as of a tensor whose storage was freed.
define internal i1 @take_tensor(ptr %plan, ptr %row, ptr %o, ptr %block) alwaysinline {
entry:
  %found = alloca %tensor, align 8
  %type = call ptr @type_of(ptr %o)
  %tt = call ptr @object(ptr %plan, i64 2)
  %pt = call ptr @object(ptr %plan, i64 3)
  %is.t = icmp eq ptr %type, %tt
  %is.p = icmp eq ptr %type, %pt
  %known = or i1 %is.t, %is.p
  br i1 %known, label %read, label %no
read:
  %reader = call ptr @object(ptr %plan, i64 1)
  %status = call i32 %reader(ptr %o, ptr %found)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %clear, label %negated
clear:
  %err = call ptr @object(ptr %plan, i64 18)
  call void %err()
  br label %no
negated:
  %ask = call ptr @object(ptr %plan, i64 14)
  %is.neg = call ptr @object(ptr %plan, i64 4)
  %answer = call ptr %ask(ptr %is.neg, ptr %o)
  %nothing = icmp eq ptr %answer, null
  br i1 %nothing, label %clear, label %release
release:
  %dec = call ptr @object(ptr %plan, i64 17)
  call void %dec(ptr %answer)
  %false = call ptr @object(ptr %plan, i64 5)
  %plain = icmp eq ptr %answer, %false
  br i1 %plain, label %compare, label %no
compare:
  %p.device = getelementptr %tensor, ptr %found, i32 0, i32 1
  %device = load i64, ptr %p.device, align 8
  %device.want = call i64 @word(ptr %row, i64 3)
  %same.device = icmp eq i64 %device, %device.want
  %p.rank = getelementptr %tensor, ptr %found, i32 0, i32 3
  %rank32 = load i32, ptr %p.rank
  %rank = zext i32 %rank32 to i64
  %rank.want = call i64 @word(ptr %row, i64 4)
  %same.rank = icmp eq i64 %rank, %rank.want
  %p.dtype = getelementptr %tensor, ptr %found, i32 0, i32 4
  %dtype32 = load i32, ptr %p.dtype
  %dtype = zext i32 %dtype32 to i64
  %dtype.want = call i64 @word(ptr %row, i64 2)
  %same.dtype = icmp eq i64 %dtype, %dtype.want
  %s1 = and i1 %same.device, %same.rank
  %s2 = and i1 %s1, %same.dtype
  br i1 %s2, label %place, label %no
place:
  %data = load i64, ptr %found
  %p.offset = getelementptr %tensor, ptr %found, i32 0, i32 7
  %offset = load i64, ptr %p.offset
  %address = add i64 %data, %offset
  %mask = call i64 @word(ptr %row, i64 5)
  %low = and i64 %address, %mask
  %even = icmp eq i64 %low, 0
  %lowest = call i64 @word(ptr %plan, i64 22)
  %there = icmp uge i64 %address, %lowest
  %aligned = and i1 %even, %there
  %at = call i64 @word(ptr %row, i64 6)
  %slot = getelementptr i8, ptr %block, i64 %at
  store i64 %address, ptr %slot, align 1
  %p.shape = getelementptr %tensor, ptr %found, i32 0, i32 5
  %shape = load ptr, ptr %p.shape
  %p.strides = getelementptr %tensor, ptr %found, i32 0, i32 6
  %strides = load ptr, ptr %p.strides
  %lead = call i64 @word(ptr %row, i64 7)
  %leaves = getelementptr i64, ptr %row, i64 8
  %half = mul i64 %rank, 4
  %steps = getelementptr i64, ptr %leaves, i64 %half
  %none = icmp eq ptr %strides, null
  br i1 %none, label %no, label %loop
loop:
  %i = phi i64 [ 0, %place ], [ %i1, %next ]
  %ok = phi i1 [ %aligned, %place ], [ %ok3, %next ]
  %more = icmp ult i64 %i, %rank
  %go = and i1 %more, %ok
  br i1 %go, label %next, label %end
next:
  %pe = getelementptr i64, ptr %shape, i64 %i
  %extent = load i64, ptr %pe
  %pst = getelementptr i64, ptr %strides, i64 %i
  %stride = load i64, ptr %pst
  %jump = mul i64 %i, 4
  %r1 = getelementptr i64, ptr %leaves, i64 %jump
  %ok1 = call i1 @leaf(ptr %r1, i64 %extent, ptr %block)
  %r2 = getelementptr i64, ptr %steps, i64 %jump
  %ok2 = call i1 @leaf(ptr %r2, i64 %stride, ptr %block)
  %before = icmp slt i64 %i, %lead
  %unit = icmp eq i64 %stride, 1
  %taken = and i1 %before, %unit
  %free = xor i1 %taken, true
  %both = and i1 %ok1, %ok2
  %ok3 = and i1 %both, %free
  %i1 = add i64 %i, 1
  br label %loop
end:
  ret i1 %ok
no:
  ret i1 false
}

; An adaptor of a torch tensor. Row: 2 its type, 3 the key it must have, 4 the name of that attribute, 5 that of the
; attribute with the tensor, which is read like any other: its owner may have given it other memory.
define internal i1 @take_adaptor(ptr %plan, ptr %row, ptr %inner, ptr %o, ptr %block) {
entry:
  %type = call ptr @type_of(ptr %o)
  %want = call ptr @object(ptr %row, i64 2)
  %same = icmp eq ptr %type, %want
  br i1 %same, label %marks, label %no
marks:
  %get = call ptr @object(ptr %plan, i64 21)
  %dec = call ptr @object(ptr %plan, i64 17)
  %key.name = call ptr @object(ptr %row, i64 4)
  %key = call ptr %get(ptr %o, ptr %key.name)
  %no.key = icmp eq ptr %key, null
  br i1 %no.key, label %clear, label %compare
compare:
  %key.want = call ptr @object(ptr %row, i64 3)
  %equals = call ptr @object(ptr %plan, i64 23)
  %equal = call i32 %equals(ptr %key, ptr %key.want, i32 2)
  call void %dec(ptr %key)
  switch i32 %equal, label %clear [ i32 0, label %no  i32 1, label %read ]
read:
  %source.name = call ptr @object(ptr %row, i64 5)
  %source = call ptr %get(ptr %o, ptr %source.name)
  %no.source = icmp eq ptr %source, null
  br i1 %no.source, label %clear, label %tensor
tensor:
  %taken = call i1 @take_tensor(ptr %plan, ptr %inner, ptr %source, ptr %block)
  call void %dec(ptr %source)
  ret i1 %taken
clear:
  %err = call ptr @object(ptr %plan, i64 18)
  call void %err()
  br label %no
no:
  ret i1 false
}

; An int. Row: 2 place, 3 bytes, 4 least, 5 most.
define internal i1 @take_int(ptr %plan, ptr %row, ptr %o, ptr %block) {
entry:
  %over = alloca i32
  %type = call ptr @type_of(ptr %o)
  %want = call ptr @object(ptr %plan, i64 7)
  %same = icmp eq ptr %type, %want
  br i1 %same, label %read, label %no
read:
  %reader = call ptr @object(ptr %plan, i64 15)
  %v = call i64 %reader(ptr %o, ptr %over)
  %big = load i32, ptr %over
  %small = icmp eq i32 %big, 0
  %least = call i64 @word(ptr %row, i64 4)
  %most = call i64 @word(ptr %row, i64 5)
  %a = icmp sge i64 %v, %least
  %b = icmp sle i64 %v, %most
  %c = and i1 %a, %b
  %ok = and i1 %c, %small
  br i1 %ok, label %store, label %no
store:
  %at = call i64 @word(ptr %row, i64 2)
  %slot = getelementptr i8, ptr %block, i64 %at
  %size = call i64 @word(ptr %row, i64 3)
  switch i64 %size, label %long [ i64 1, label %byte  i64 2, label %half  i64 4, label %short ]
byte:
  %v8 = trunc i64 %v to i8
  store i8 %v8, ptr %slot, align 1
  ret i1 true
half:
  %v16 = trunc i64 %v to i16
  store i16 %v16, ptr %slot, align 1
  ret i1 true
short:
  %v32 = trunc i64 %v to i32
  store i32 %v32, ptr %slot, align 1
  ret i1 true
long:
  store i64 %v, ptr %slot, align 1
  ret i1 true
no:
  ret i1 false
}

; A float. Row: 2 place, 3 bytes. One too large for f32 is left to the caller, who says so.
define internal i1 @take_float(ptr %plan, ptr %row, ptr %o, ptr %block) {
entry:
  %type = call ptr @type_of(ptr %o)
  %want = call ptr @object(ptr %plan, i64 8)
  %same = icmp eq ptr %type, %want
  br i1 %same, label %read, label %no
read:
  %reader = call ptr @object(ptr %plan, i64 16)
  %v = call double %reader(ptr %o)
  %at = call i64 @word(ptr %row, i64 2)
  %slot = getelementptr i8, ptr %block, i64 %at
  %size = call i64 @word(ptr %row, i64 3)
  %wide = icmp eq i64 %size, 8
  br i1 %wide, label %long, label %short
long:
  store double %v, ptr %slot, align 1
  ret i1 true
short:
  %f = fptrunc double %v to float
  store float %f, ptr %slot, align 1
  %back = fpext float %f to double
  %abs = call double @llvm.fabs.f64(double %back)
  %inf = fcmp oeq double %abs, 0x7FF0000000000000
  %given = call double @llvm.fabs.f64(double %v)
  %was = fcmp oeq double %given, 0x7FF0000000000000
  %grew = xor i1 %was, true
  %bad = and i1 %inf, %grew
  %ok = xor i1 %bad, true
  ret i1 %ok
no:
  ret i1 false
}

declare double @llvm.fabs.f64(double)

; A stream: None or the object of word 7, which stand for the default one; or an object of the type in word 3 whose
; attribute of word 4 is the handle and of word 5 the device's number, which word 6 fixes.
define internal i1 @take_stream(ptr %plan, ptr %row, ptr %o, ptr %block) {
entry:
  %at = call i64 @word(ptr %row, i64 2)
  %slot = getelementptr i8, ptr %block, i64 %at
  %none = call ptr @object(ptr %plan, i64 6)
  %is.none = icmp eq ptr %o, %none
  %default = call ptr @object(ptr %row, i64 7)
  %is.default = icmp eq ptr %o, %default
  %is.null = or i1 %is.none, %is.default
  br i1 %is.null, label %null, label %typed
null:
  store i64 0, ptr %slot, align 1
  ret i1 true
typed:
  %type = call ptr @type_of(ptr %o)
  %want = call ptr @object(ptr %row, i64 3)
  %same = icmp eq ptr %type, %want
  br i1 %same, label %read, label %no
read:
  %handle = call i64 @attribute(ptr %plan, ptr %row, i64 4, ptr %o)
  %index = call i64 @attribute(ptr %plan, ptr %row, i64 5, ptr %o)
  store i64 %handle, ptr %slot, align 1
  %expected = call i64 @word(ptr %row, i64 6)
  %right = icmp eq i64 %index, %expected
  %found = icmp ne i64 %handle, -1
  %ok = and i1 %right, %found
  ret i1 %ok
no:
  ret i1 false
}

define internal i64 @attribute(ptr %plan, ptr %row, i64 %which, ptr %o) {
entry:
  %over = alloca i32
  %name = call ptr @object(ptr %row, i64 %which)
  %get = call ptr @object(ptr %plan, i64 21)
  %value = call ptr %get(ptr %o, ptr %name)
  %missing = icmp eq ptr %value, null
  br i1 %missing, label %clear, label %read
clear:
  %err = call ptr @object(ptr %plan, i64 18)
  call void %err()
  ret i64 -1
read:
  %reader = call ptr @object(ptr %plan, i64 15)
  %v = call i64 %reader(ptr %value, ptr %over)
  %dec = call ptr @object(ptr %plan, i64 17)
  call void %dec(ptr %value)
  ret i64 %v
}

define i32 @fly_native_call(ptr %plan, ptr %args, ptr %report) {
entry:
  %size = call i64 @word(ptr %plan, i64 9)
  %block = alloca i8, i64 %size, align 16
  %count = call i64 @word(ptr %plan, i64 10)
  %length = call ptr @object(ptr %plan, i64 20)
  %given = call i64 %length(ptr %args)
  %fits = icmp eq i64 %given, %count
  br i1 %fits, label %begin, label %no
begin:
  %get = call ptr @object(ptr %plan, i64 13)
  %first = getelementptr i64, ptr %plan, i64 24
  br label %loop
loop:
  %i = phi i64 [ 0, %begin ], [ %i1, %step ]
  %row = phi ptr [ %first, %begin ], [ %row1, %step ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %launch
one:
  %o = call ptr %get(ptr %args, i64 %i)
  %kind = call i64 @word(ptr %row, i64 0)
  switch i64 %kind, label %no [ i64 0, label %tensor  i64 1, label %int  i64 2, label %float  i64 3, label %stream
                                i64 4, label %constant  i64 5, label %taken  i64 6, label %adaptor ]
tensor:
  %a0 = call i1 @take_tensor(ptr %plan, ptr %row, ptr %o, ptr %block)
  br i1 %a0, label %step, label %no
int:
  %a1 = call i1 @take_int(ptr %plan, ptr %row, ptr %o, ptr %block)
  br i1 %a1, label %step, label %no
float:
  %a2 = call i1 @take_float(ptr %plan, ptr %row, ptr %o, ptr %block)
  br i1 %a2, label %step, label %no
stream:
  %a3 = call i1 @take_stream(ptr %plan, ptr %row, ptr %o, ptr %block)
  br i1 %a3, label %step, label %no
constant:
  %want = call ptr @object(ptr %row, i64 2)
  %a4 = icmp eq ptr %o, %want
  br i1 %a4, label %step, label %no
taken:
  br label %step
adaptor:
  %own = call i64 @word(ptr %row, i64 1)
  %inner = getelementptr i64, ptr %row, i64 %own
  %a6 = call i1 @take_adaptor(ptr %plan, ptr %row, ptr %inner, ptr %o, ptr %block)
  br i1 %a6, label %step, label %no
step:
  %last = phi ptr [ %row, %tensor ], [ %row, %int ], [ %row, %float ], [ %row, %stream ], [ %row, %constant ],
                  [ %row, %taken ], [ %inner, %adaptor ]
  %words = call i64 @word(ptr %last, i64 1)
  %row1 = getelementptr i64, ptr %last, i64 %words
  %i1 = add i64 %i, 1
  br label %loop
launch:
  %hidden = call i64 @word(ptr %plan, i64 19)
  %has = icmp sge i64 %hidden, 0
  br i1 %has, label %null, label %enter
null:
  %hs = getelementptr i8, ptr %block, i64 %hidden
  store i64 0, ptr %hs, align 1
  br label %enter
enter:
  %save = call ptr @object(ptr %plan, i64 11)
  %state = call ptr %save()
  %entry.fn = call ptr @object(ptr %plan, i64 0)
  %status = call i32 %entry.fn(ptr %block, ptr %report)
  %restore = call ptr @object(ptr %plan, i64 12)
  call void %restore(ptr %state)
  ret i32 %status
no:
  ret i32 -1000000
}
