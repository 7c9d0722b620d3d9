/** The code of an error, e.g. `ECONNREFUSED` of the system's or `kube-not-found` of ours; `undefined` for what has none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
