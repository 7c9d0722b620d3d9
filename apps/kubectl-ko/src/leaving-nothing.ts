import { RemnantsError } from './errors.ts'

interface Remnants {
  readonly remove: () => Promise<void>
  /** What they are, e.g. by which label. */
  readonly what: string
  /** A command that takes them away, should {@link remove} fail. */
  readonly cure: string
}

/**
 * Does work that makes objects, and takes them away, whatever comes of it: also when it is interrupted.
 *
 * @throws RemnantsError when they could not be taken away; what came of the work is lost
 */
export async function leavingNothing<T>(
  { remove, what, cure }: Remnants,
  work: () => Promise<T>,
): Promise<T> {
  const [done] = await Promise.allSettled([work()])
  try {
    await remove()
  } catch (cause) {
    throw new RemnantsError(what, cure, { cause })
  }
  if (done.status === 'rejected') throw done.reason
  return done.value
}
