/** Waits until an instant of the reader's clock, or until it is no longer wanted. */
export async function waitUntil(atMs: number, signal: AbortSignal): Promise<void> {
  const waitMs = atMs - Date.now()
  if (waitMs <= 0) return
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, waitMs)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}
