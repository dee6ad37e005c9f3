// The default export is the handler; it gets the same run as any other, whether it is isolated or not.
export default function render(run) {
  const until = performance.now() + 1000
  // Blocks the thread for a second, as a renderer or a compressor would.
  while (performance.now() < until);
  run.log('rendered')
  return { pages: run.payload.pages }
}

/** Stands for a library that calls process.exit. */
export function unruly() {
  console.error('out of ideas')
  process.exit(1)
}

/** Never returns, and ignores its signal. */
export function endless() {
  while (true);
}
