/** From this number on, a worker's turn should not wait for the commit of ticks. */
export const manyTicks = 50
