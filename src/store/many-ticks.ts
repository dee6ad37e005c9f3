/** From this number on, ticks are committed separately from turns: a worker's turn should not wait for them. */
export const manyTicks = 50
