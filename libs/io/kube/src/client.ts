import type { ClusterAccess } from './cluster-access.ts'
import { KubeAnswerError, KubeNotFoundError } from './errors.ts'
import { parseJson, stringifyJson } from './json.ts'
import { readLines } from './lines.ts'
import { collectionPath, objectPath, type Query } from './paths.ts'
import { errorOfStatus, isStatus } from './status.ts'
import { Transport, type HttpRequest, type TransportOptions } from './transport.ts'
import type { KubeObject, ObjectRef, PatchType, Resource } from './types.ts'

export interface KubeClientOptions extends Partial<TransportOptions> {
  /** Names us in the server's audit log, e.g. `kube-ovn-controller/1.17.0`. */
  readonly userAgent: string
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
}

export interface Selection extends ReadOptions {
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
}

export interface ListOptions extends Selection {
  /** Objects to a page. */
  readonly limit?: number | undefined
  readonly continue?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined
}

export interface ListPage<T extends KubeObject> {
  readonly items: readonly T[]
  /** State of the server that the list shows; the same for all pages of a list. */
  readonly resourceVersion: string
  /** Token of the next page; `undefined` on the last one. */
  readonly continue: string | undefined
}

export interface WatchOptions extends Selection {
  /** Changes after this version are sent. Without it, the server first sends all there is. */
  readonly resourceVersion?: string | undefined
  /** The server ends the stream after this time. */
  readonly timeoutSeconds?: number | undefined
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Nothing that the watch selects has changed up to this version. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }

export interface WriteOptions {
  /** Who owns the fields that are written; the server derives one from the user agent otherwise. */
  readonly fieldManager?: string | undefined
  readonly subresource?: string | undefined
  /** Everything is checked and defaulted, and nothing is kept. */
  readonly dryRun?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export interface PatchOptions extends WriteOptions {
  /** Takes fields from other managers; apply patches only. */
  readonly force?: boolean | undefined
}

export interface RemoveOptions {
  /** Refuses with {@link KubeConflictError} when the object is another one, or has changed. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined
  readonly propagation?: 'Orphan' | 'Background' | 'Foreground' | undefined
  readonly gracePeriodSeconds?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * What a deletion came to. `object` is the object as the server answered it: still there, and waiting for its
 * finalizers or its grace period, unless `isGone`. Some resources answer a deletion without the object.
 */
export interface Removal<T extends KubeObject> {
  readonly isGone: boolean
  readonly object: T | undefined
}

const DEFAULTS = { connections: 32, timeoutMs: 60_000, watchSilenceMs: 180_000, repeats: 0 }

/**
 * Speaks to one API server. Refusals are the typed errors of `errors.ts`. Nothing is retried in here but a request whose credentials
 * were refused and could be renewed, once, and what the server asks to send later, as often as `repeats` says: whoever has a queue of
 * its own leaves that at 0.
 */
export class KubeClient implements AsyncDisposable {
  readonly #transport: Transport

  constructor(access: ClusterAccess, options: KubeClientOptions) {
    this.#transport = new Transport(access, { ...DEFAULTS, ...options })
  }

  /** Reads one object; `undefined` when there is none of this name. */
  async get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: ReadOptions = {},
  ): Promise<T | undefined> {
    try {
      return await this.#object<T>({
        method: 'GET',
        path: objectPath(resource, ref, undefined),
        signal: options.signal,
      })
    } catch (error) {
      if (isMissingObject(error)) return undefined
      throw error
    }
  }

  /** Reads one page: all objects if no `limit` is given. */
  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<ListPage<T>> {
    const { namespace, signal, ...query } = options
    const request: HttpRequest = { method: 'GET', path: collectionPath(resource, namespace, query), signal }
    const answer = await this.#json(request)
    if (!isList<T>(answer)) throw malformed(request, answer)
    const token = answer.metadata.continue ?? ''
    return {
      items: answer.items ?? [],
      resourceVersion: answer.metadata.resourceVersion,
      continue: token === '' ? undefined : token,
    }
  }

  /** Creates an object. Its namespace and name are those of its metadata. */
  create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { subresource, signal } = options
    const { name, namespace } = object.metadata
    const query = queryOf(options)
    const path =
      subresource === undefined
        ? collectionPath(resource, namespace, query)
        : objectPath(
            resource,
            { name, ...(namespace === undefined ? {} : { namespace }) },
            subresource,
            query,
          )
    return this.#object<T>({ method: 'POST', path, body: body(resource, object), signal })
  }

  /** Replaces an object; the server refuses with {@link KubeConflictError} if its resource version is not the present one. */
  replace<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { subresource, signal } = options
    const path = objectPath(resource, object.metadata, subresource, queryOf(options))
    return this.#object<T>({ method: 'PUT', path, body: body(resource, object), signal })
  }

  /** Changes part of an object. An apply patch needs a `fieldManager`, and creates the object when it is not there. */
  patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    type: PatchType,
    patch: unknown,
    options: PatchOptions = {},
  ): Promise<T> {
    const { subresource, force, signal } = options
    const path = objectPath(resource, ref, subresource, { ...queryOf(options), force })
    return this.#object<T>({ method: 'PATCH', path, body: stringifyJson(patch), contentType: type, signal })
  }

  /** Deletes an object. That it is gone already is no error. */
  async remove<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: RemoveOptions = {},
  ): Promise<Removal<T>> {
    const request: HttpRequest = {
      method: 'DELETE',
      path: objectPath(resource, ref, undefined),
      body: stringifyJson({
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: options.preconditions,
        propagationPolicy: options.propagation,
        gracePeriodSeconds: options.gracePeriodSeconds,
      }),
      signal: options.signal,
    }
    try {
      const answer = await this.#json(request)
      if (isStatus(answer)) return { isGone: true, object: undefined }
      if (!isObject<T>(answer)) throw malformed(request, answer)
      return { isGone: !isWaiting(answer), object: answer }
    } catch (error) {
      if (isMissingObject(error)) return { isGone: true, object: undefined }
      throw error
    }
  }

  /**
   * Opens a watch. The answer yields changes as the server sends them, until the server ends the stream; it must be
   * iterated, or `signal` aborted, for the connection to be let go.
   *
   * @throws KubeGoneError when `resourceVersion` is too old, at once or while iterating; other refusals likewise
   */
  async watchStream<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions = {},
  ): Promise<AsyncIterable<WatchEvent<T>>> {
    const { namespace, signal, ...query } = options
    const path = collectionPath(resource, namespace, { ...query, watch: true, allowWatchBookmarks: true })
    const request: HttpRequest = { method: 'GET', path, signal }
    return readEvents<T>(request, await this.#transport.stream(request))
  }

  /** Reads a path that is no resource, e.g. `/version` or `/readyz`, as text. */
  read(path: string, options: ReadOptions = {}): Promise<string> {
    return this.#transport.send({ method: 'GET', path, signal: options.signal })
  }

  /** Cuts every connection; requests under way fail. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#transport[Symbol.asyncDispose]()
  }

  async #object<T extends KubeObject>(request: HttpRequest): Promise<T> {
    const answer = await this.#json(request)
    if (!isObject<T>(answer)) throw malformed(request, answer)
    return answer
  }

  async #json(request: HttpRequest): Promise<unknown> {
    return parse(request, await this.#transport.send(request))
  }
}

function queryOf({ fieldManager, dryRun }: WriteOptions): Query {
  return { fieldManager, ...(dryRun === true && { dryRun: 'All' }) }
}

interface RawList<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items?: readonly T[] | null
}

/** That the object has the fields of `T` is the schema's affair, which the server has checked. */
function isObject<T extends KubeObject>(value: unknown): value is T {
  return (
    typeof value === 'object' && value !== null && 'metadata' in value && typeof value.metadata === 'object'
  )
}

function isList<T extends KubeObject>(value: unknown): value is RawList<T> {
  return isObject(value) && typeof value.metadata.resourceVersion === 'string' && 'items' in value
}

/** Tells a missing object from a missing resource type, whose answer is no Status with the object's name. */
function isMissingObject(error: unknown): boolean {
  return error instanceof KubeNotFoundError && error.details.reason === 'NotFound' && error.details.hasName
}

/** Deleted, but held by a finalizer (its own, or a namespace's) or a grace period. */
function isWaiting(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata
  if (deletionTimestamp === undefined) return false
  if ((finalizers?.length ?? 0) > 0 || (deletionGracePeriodSeconds ?? 0) > 0) return true
  return 'spec' in object && hasFinalizers(object.spec)
}

function hasFinalizers(spec: unknown): boolean {
  if (typeof spec !== 'object' || spec === null || !('finalizers' in spec)) return false
  return Array.isArray(spec.finalizers) && spec.finalizers.length > 0
}

async function* readEvents<T extends KubeObject>(
  request: HttpRequest,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const line of readLines(bytes)) yield readEvent<T>(request, parse(request, line))
}

function readEvent<T extends KubeObject>(request: HttpRequest, event: unknown): WatchEvent<T> {
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
    throw malformed(request, event)
  }
  const { type, object } = event
  if (type === 'ERROR' && isStatus(object)) throw errorOfStatus(request, object.code ?? 500, object)
  if (!isObject<T>(object)) throw malformed(request, event)
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object }
    case 'BOOKMARK':
      return { type, resourceVersion: object.metadata.resourceVersion ?? '' }
    default:
      throw malformed(request, event)
  }
}

/** Objects are sent with the kind that the resource has; callers need not repeat it. */
function body<T extends KubeObject>(resource: Resource<T>, object: T): string {
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
  return stringifyJson({ apiVersion, kind: resource.kind, ...object })
}

function parse(request: HttpRequest, text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw malformed(request, text, cause)
  }
}

function malformed(request: HttpRequest, answer: unknown, cause?: unknown): KubeAnswerError {
  const text = typeof answer === 'string' ? answer : stringifyJson(answer)
  return new KubeAnswerError(
    'API server sent an unexpected answer',
    { method: request.method, path: request.path, answer: text.slice(0, 300) },
    { cause },
  )
}
