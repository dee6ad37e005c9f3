import { useEffect, useState } from 'react'

/** A value that follows another one when it has stayed the same for a while: what a reader typed, once they pause. */
export function useAfterPause<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
