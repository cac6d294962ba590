// expect: PC2426@1
 fn f() {}
