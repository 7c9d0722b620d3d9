/** Which requests: `watch` never ends by itself, `read` is any other GET, `write` the rest. */
export type RequestKind = 'read' | 'watch' | 'write'

/** What is wrong with an API server, for some of its requests. */
export interface ApiFault {
  /** Absent: of every kind. */
  readonly kind?: RequestKind
  /** A regular expression that the path, without its query, must match. Absent: every path. */
  readonly path?: string
  /** How many requests it concerns. Absent: all. */
  readonly times?: number
  /** Before anything else happens. */
  readonly delayMs?: number
  /** A status, or the end of the connection, in place of the server's answer. */
  readonly answer?: number | 'reset'
  /** After how long an answer of 429 asks to come again. Absent: 1. */
  readonly retryAfterSeconds?: number
  /** The request gets through, and its connection ends this long after. */
  readonly resetAfterMs?: number
}

/** The first fault that concerns a request. */
export function firstFault(faults: readonly ApiFault[], method: string, url: string): ApiFault | undefined {
  const { pathname, searchParams } = new URL(url, 'https://server')
  const watch = searchParams.get('watch')
  const kind: RequestKind =
    method !== 'GET' && method !== 'HEAD' ? 'write' : watch === 'true' || watch === '1' ? 'watch' : 'read'
  return faults.find(
    (fault) =>
      (fault.kind === undefined || fault.kind === kind) &&
      (fault.path === undefined || new RegExp(fault.path).test(pathname)),
  )
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
}

/** The `Status` object that a server answers such a status with. */
export function answerText(status: number, retryAfterSeconds: number): string {
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'refused by a proxy that plays a broken server',
    reason: reasons[status] ?? '',
    code: status,
    ...(status === 429 ? { details: { retryAfterSeconds } } : {}),
  })
}
