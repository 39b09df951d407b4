/* Loaded before TensorFlow's: see harness/spec/settings/variant.py. The names are those of tsl::port::ScopedFlushDenormal's
   constructors, and of ScopedDontFlushDenormal's. */
extern void _ZN3tsl4port23ScopedDontFlushDenormalC1Ev(void *);
void _ZN3tsl4port19ScopedFlushDenormalC1Ev(void *self) { _ZN3tsl4port23ScopedDontFlushDenormalC1Ev(self); }
void _ZN3tsl4port19ScopedFlushDenormalC2Ev(void *self) { _ZN3tsl4port23ScopedDontFlushDenormalC1Ev(self); }
