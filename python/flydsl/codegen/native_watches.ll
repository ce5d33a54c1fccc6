; Are the things that compiled code was made from still the same objects? A Python function without arguments.
;
; %self is a bytes object with a table of 64-bit words that `compiler/native_watches.py` writes. Only addresses are
; compared. If one is another, or something cannot be read, the answer is left to the function in word 1, which looks
; more closely; if all are the same, to the one in word 2, which looks at the rest, if there is one.
;
; Words: 0 number of rows, 1 the closer look, 2 the rest or 0, 3 True, 4 Dict_GetItemWithError, 5 Dict_Next, 6 Dict_Size,
; 7 Cell_Get, 8 IncRef, 9 DecRef, 10 Err_Occurred, 11 Err_Clear, 12 CallNoArgs; then the rows, which start with their
; kind and their length in words.

define internal i64 @word(ptr %table, i64 %i) alwaysinline {
  %p = getelementptr i64, ptr %table, i64 %i
  %v = load i64, ptr %p
  ret i64 %v
}

define internal ptr @object(ptr %table, i64 %i) alwaysinline {
  %p = getelementptr i64, ptr %table, i64 %i
  %v = load ptr, ptr %p
  ret ptr %v
}

; Null without an exception means that nothing is there, as the row may expect.
define internal i1 @absent(ptr %table) {
  %ask = call ptr @object(ptr %table, i64 10)
  %error = call ptr %ask()
  %clean = icmp eq ptr %error, null
  br i1 %clean, label %end, label %clear
clear:
  %forget = call ptr @object(ptr %table, i64 11)
  call void %forget()
  br label %end
end:
  ret i1 %clean
}

; Row: 2 dictionary, 3 key, 4 value or 0.
define internal i1 @same_entry(ptr %table, ptr %row) alwaysinline {
  %get = call ptr @object(ptr %table, i64 4)
  %dict = call ptr @object(ptr %row, i64 2)
  %key = call ptr @object(ptr %row, i64 3)
  %want = call ptr @object(ptr %row, i64 4)
  %found = call ptr %get(ptr %dict, ptr %key)
  %same = icmp eq ptr %found, %want
  %none = icmp eq ptr %found, null
  br i1 %none, label %missing, label %end
missing:
  %clean = call i1 @absent(ptr %table)
  %ok = and i1 %clean, %same
  ret i1 %ok
end:
  ret i1 %same
}

; Row: 2 dictionary, 3 number of its entries, then the key, or 0 for any, and the value of each in order.
define internal i1 @same_entries(ptr %table, ptr %row) alwaysinline {
entry:
  %place = alloca i64, align 8
  %p.key = alloca ptr, align 8
  %p.value = alloca ptr, align 8
  store i64 0, ptr %place
  %dict = call ptr @object(ptr %row, i64 2)
  %count = call i64 @word(ptr %row, i64 3)
  %size = call ptr @object(ptr %table, i64 6)
  %now = call i64 %size(ptr %dict)
  %same.count = icmp eq i64 %now, %count
  br i1 %same.count, label %loop, label %no
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %take, label %yes
take:
  %step = call ptr @object(ptr %table, i64 5)
  %there = call i32 %step(ptr %dict, ptr %place, ptr %p.key, ptr %p.value)
  %gone = icmp eq i32 %there, 0
  br i1 %gone, label %no, label %next
next:
  %twice = shl i64 %i, 1
  %at = add i64 %twice, 4
  %key.want = call ptr @object(ptr %row, i64 %at)
  %at1 = add i64 %at, 1
  %value.want = call ptr @object(ptr %row, i64 %at1)
  %key = load ptr, ptr %p.key
  %value = load ptr, ptr %p.value
  %any = icmp eq ptr %key.want, null
  %that = icmp eq ptr %key, %key.want
  %key.ok = or i1 %any, %that
  %value.ok = icmp eq ptr %value, %value.want
  %ok = and i1 %key.ok, %value.ok
  %i1 = add i64 %i, 1
  br i1 %ok, label %loop, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Row: 2 cell, 3 its content.
define internal i1 @same_content(ptr %table, ptr %row) alwaysinline {
  %get = call ptr @object(ptr %table, i64 7)
  %cell = call ptr @object(ptr %row, i64 2)
  %want = call ptr @object(ptr %row, i64 3)
  %found = call ptr %get(ptr %cell)
  %none = icmp eq ptr %found, null
  br i1 %none, label %missing, label %there
missing:
  %clean = call i1 @absent(ptr %table)
  ret i1 false
there:
  %release = call ptr @object(ptr %table, i64 9)
  call void %release(ptr %found)
  %same = icmp eq ptr %found, %want
  ret i1 %same
}

; Row: 2 the reader, a C function of an object; 3 the object, 4 what it must give. The reader lends its answer.
define internal i1 @same_part(ptr %table, ptr %row) alwaysinline {
  %read = call ptr @object(ptr %row, i64 2)
  %owner = call ptr @object(ptr %row, i64 3)
  %want = call ptr @object(ptr %row, i64 4)
  %found = call ptr %read(ptr %owner)
  %same = icmp eq ptr %found, %want
  ret i1 %same
}

define ptr @fly_unchanged(ptr %self, ptr %nothing) {
entry:
  %table = getelementptr i8, ptr %self, i64 32
  %count = call i64 @word(ptr %table, i64 0)
  %first = getelementptr i64, ptr %table, i64 13
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %step ]
  %row = phi ptr [ %first, %entry ], [ %row1, %step ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %same
look:
  %kind = call i64 @word(ptr %row, i64 0)
  switch i64 %kind, label %other [ i64 0, label %entry.row  i64 1, label %entries.row  i64 2, label %cell.row
                                   i64 3, label %part.row ]
entry.row:
  %ok0 = call i1 @same_entry(ptr %table, ptr %row)
  br label %looked
entries.row:
  %ok1 = call i1 @same_entries(ptr %table, ptr %row)
  br label %looked
cell.row:
  %ok2 = call i1 @same_content(ptr %table, ptr %row)
  br label %looked
part.row:
  %ok3 = call i1 @same_part(ptr %table, ptr %row)
  br label %looked
looked:
  %ok = phi i1 [ %ok0, %entry.row ], [ %ok1, %entries.row ], [ %ok2, %cell.row ], [ %ok3, %part.row ]
  br i1 %ok, label %step, label %other
step:
  %length = call i64 @word(ptr %row, i64 1)
  %row1 = getelementptr i64, ptr %row, i64 %length
  %i1 = add i64 %i, 1
  br label %loop
same:
  %rest = call ptr @object(ptr %table, i64 2)
  %no.rest = icmp eq ptr %rest, null
  br i1 %no.rest, label %yes, label %ask
yes:
  %true = call ptr @object(ptr %table, i64 3)
  %keep = call ptr @object(ptr %table, i64 8)
  call void %keep(ptr %true)
  ret ptr %true
other:
  %closer = call ptr @object(ptr %table, i64 1)
  br label %ask
ask:
  %function = phi ptr [ %rest, %same ], [ %closer, %other ]
  %call = call ptr @object(ptr %table, i64 12)
  %answer = call ptr %call(ptr %function)
  ret ptr %answer
}
