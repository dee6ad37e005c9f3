/** Lets other work of the process continue: long work calls it between its steps. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
