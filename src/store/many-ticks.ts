/** So many ticks in one transaction take longer than a worker's turn should wait: they are committed apart from turns. */
export const manyTicks = 50
