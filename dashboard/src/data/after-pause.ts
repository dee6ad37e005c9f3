import { useEffect, useState } from 'react'

/** A value that follows another one when it has not changed for a while, such as a typed text after a pause. */
export function useAfterPause<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
