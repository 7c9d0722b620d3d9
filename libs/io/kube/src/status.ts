import {
  KubeAlreadyExistsError,
  KubeBadRequestError,
  KubeConflictError,
  KubeDeniedError,
  KubeForbiddenError,
  KubeGoneError,
  KubeInvalidError,
  KubeNotFoundError,
  KubeTooManyRequestsError,
  KubeUnauthorizedError,
  KubeUnavailableError,
  type KubeRequestError,
  type RequestDetails,
  type StatusCause,
} from './errors.ts'
import { parseJson } from './json.ts'

/** What of a Status object we read. It comes as the body of a refusal and as the object of an ERROR event. */
export interface Status {
  readonly kind?: string
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: {
    readonly name?: string
    readonly uid?: string
    readonly retryAfterSeconds?: number
    readonly causes?: readonly {
      readonly reason?: string
      readonly message?: string
      readonly field?: string
    }[]
  }
}

/**
 * How the API server begins the message of a denial by a webhook, and how it names a policy in one. The status is the
 * webhook's or the policy's choice; 400 when a webhook gives none.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response
 */
const deniedByAdmission = /^admission webhook "|\b(Validating|Mutating)AdmissionPolicy '/

const DEFAULT_RETRY_AFTER_MS = 1000

/** Bodies that are no Status (from a proxy in between) are kept this far. */
const MAX_ANSWER_LENGTH = 300

/** Reads the body of a refusal. A body that is no Status becomes the message of one. */
export function parseStatus(body: string): Status {
  try {
    const parsed: unknown = parseJson(body)
    if (isStatus(parsed)) return parsed
  } catch {
    // Plain text, as a missing path and most proxies answer it.
  }
  return { message: body.trim().slice(0, MAX_ANSWER_LENGTH) }
}

/** Tells a Status from an object; both can be the answer to a deletion. */
export function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status'
}

/** Makes the typed error of a refusal. `retryAfter` is the header, in seconds. */
export function errorOfStatus(
  request: { readonly method: string; readonly path: string },
  httpStatus: number,
  status: Status,
  retryAfter?: string,
): KubeRequestError {
  const details: RequestDetails = {
    method: request.method,
    path: request.path,
    status: httpStatus,
    reason: status.reason ?? '',
    answer: status.message ?? '',
    causes: causesOf(status),
    hasName: (status.details?.name ?? '') !== '',
  }
  const seconds = Number(retryAfter ?? status.details?.retryAfterSeconds ?? Number.NaN)
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : DEFAULT_RETRY_AFTER_MS
  if (httpStatus < 500 && deniedByAdmission.test(details.answer))
    return new KubeDeniedError('API server denies the request by admission', details)
  switch (httpStatus) {
    case 401:
      return new KubeUnauthorizedError('API server did not accept the credentials', details)
    case 403:
      return new KubeForbiddenError('API server forbids the request', details)
    case 404:
      return new KubeNotFoundError('Object is not there', details)
    case 409:
      return details.reason === 'AlreadyExists'
        ? new KubeAlreadyExistsError('Object exists already', details)
        : new KubeConflictError('Object changed meanwhile', details)
    case 410:
      return new KubeGoneError('Resource version is too old', details)
    case 422:
      if (isForAnother(details)) return new KubeConflictError('Object is another one of its name', details)
      return new KubeInvalidError('API server says that the object is not valid', details)
    case 429:
      return new KubeTooManyRequestsError('API server asks to slow down', { ...details, retryAfterMs })
    default:
      return httpStatus >= 500
        ? new KubeUnavailableError('API server cannot answer now', { ...details, retryAfterMs })
        : new KubeBadRequestError('API server does not take the request', details)
  }
}

/** A patch that names the uid of another object than there is: the server says that it does not change. */
function isForAnother({ causes }: RequestDetails): boolean {
  return causes.some(({ field }) => field === 'metadata.uid')
}

function causesOf(status: Status): readonly StatusCause[] {
  return (status.details?.causes ?? []).map((cause) => ({
    reason: cause.reason ?? '',
    message: cause.message ?? '',
    field: cause.field ?? '',
  }))
}
