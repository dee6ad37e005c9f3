/** Lets everything else in the process have its turn: long work calls it between its pieces. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
