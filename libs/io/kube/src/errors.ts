import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** The request that failed and the server's own words. */
export interface RequestDetails {
  readonly method: string
  /** Path and query, without the server's address. */
  readonly path: string
  /** HTTP status code. */
  readonly status: number
  /** `reason` of the Status object, e.g. `NotFound`; empty when the server sent none. */
  readonly reason: string
  /** `message` of the Status object, or the start of the body when it is no Status. */
  readonly answer: string
  /** What was wrong with which field, as far as the server says. */
  readonly causes: readonly StatusCause[]
  /** The Status names an object; a missing resource type is answered without a name. */
  readonly hasName: boolean
}

export interface StatusCause {
  readonly reason: string
  readonly message: string
  readonly field: string
}

/** The API server refused a request. */
export abstract class KubeRequestError<D extends RequestDetails = RequestDetails> extends KubeOvnError<D> {}

/** The object, or the resource type itself, is not there. The state may have been read too early: plan again. */
export class KubeNotFoundError extends KubeRequestError {
  readonly code = 'kube-not-found'
  readonly retry: RetryClass = 'backoff'
}

/** The object changed meanwhile, or a precondition did not hold: plan again. */
export class KubeConflictError extends KubeRequestError {
  readonly code = 'kube-conflict'
  readonly retry: RetryClass = 'backoff'
}

/** An object of this name exists: plan again. */
export class KubeAlreadyExistsError extends KubeRequestError {
  readonly code = 'kube-already-exists'
  readonly retry: RetryClass = 'backoff'
}

/** The object is not valid; `causes` names the fields. */
export class KubeInvalidError extends KubeRequestError {
  readonly code = 'kube-invalid'
  readonly retry: RetryClass = 'on-change'
}

/** The resource version or continue token is too old; the list must be read anew. */
export class KubeGoneError extends KubeRequestError {
  readonly code = 'kube-gone'
  readonly retry: RetryClass = 'backoff'
}

/** The server asks to slow down. */
export class KubeTooManyRequestsError extends KubeRequestError<
  RequestDetails & { readonly retryAfterMs: number }
> {
  readonly code = 'kube-too-many-requests'
  readonly retry: RetryClass = 'backoff'
}

/** The credentials were not accepted, even after they were read anew. */
export class KubeUnauthorizedError extends KubeRequestError {
  readonly code = 'kube-unauthorized'
  readonly retry: RetryClass = 'backoff'
}

/** RBAC or admission forbids it (a namespace that is going takes no new objects, for instance). */
export class KubeForbiddenError extends KubeRequestError {
  readonly code = 'kube-forbidden'
  readonly retry: RetryClass = 'backoff'
}

/** The server, or something behind it, cannot answer now. */
export class KubeUnavailableError extends KubeRequestError<
  RequestDetails & { readonly retryAfterMs: number }
> {
  readonly code = 'kube-unavailable'
  readonly retry: RetryClass = 'backoff'
}

/**
 * The server does not take the request: a defect of ours, or something on the way (a webhook, a proxy, a definition that
 * is older than we are) that may be another one tomorrow.
 */
export class KubeBadRequestError extends KubeRequestError {
  readonly code = 'kube-bad-request'
  readonly retry: RetryClass = 'backoff'
}

/** A webhook or an admission policy denied the request, with whatever status. That is no word on the object itself. */
export class KubeDeniedError extends KubeRequestError {
  readonly code = 'kube-denied'
  readonly retry: RetryClass = 'backoff'
}

/** No answer: refused, cut, timed out, or a certificate that is not trusted. */
export class KubeConnectionError extends KubeOvnError<{
  readonly method: string
  readonly path: string
  readonly endpoint: string
}> {
  readonly code = 'kube-connection'
  readonly retry: RetryClass = 'backoff'
}

/** The server answered something that is not JSON of the expected form. */
export class KubeAnswerError extends KubeOvnError<{
  readonly method: string
  readonly path: string
  readonly answer: string
}> {
  readonly code = 'kube-answer'
  readonly retry: RetryClass = 'backoff'
}

/** Where the server is, or how to authenticate, cannot be found out. */
export class KubeConfigError extends KubeOvnError<
  Refused & {
    readonly source: string
  }
> {
  readonly code = 'kube-config'
  readonly retry: RetryClass = 'on-change'
}

/** A store was asked for an index that its informer was not given. */
export class UnknownIndexError extends KubeOvnError<{
  readonly index: string
  readonly known: readonly string[]
}> {
  readonly code = 'kube-unknown-index'
  readonly retry: RetryClass = 'never'
}

/** A command could not be started in a container, or its end is not known. */
export class KubeExecError extends KubeOvnError<{
  readonly pod: string
  readonly container: string
  readonly command: string
  /** In the words of the server, of kubelet or of the container runtime. */
  readonly answer: string
}> {
  readonly code = 'kube-exec'
  readonly retry: RetryClass = 'backoff'
}
