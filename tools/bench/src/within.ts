/**
 * Waits for something that is to happen, as long as that may take.
 *
 * @throws Error with what did not happen
 */
export async function within<T>(limitMs: number, what: () => string, happening: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not within ${limitMs / 1000} s: ${what()}`)), limitMs)
  try {
    return await Promise.race([happening, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
