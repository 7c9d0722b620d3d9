import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request, type Dispatcher } from 'undici'
import { ApiError } from '../errors.ts'
import { readKubeconfig } from './kubeconfig.ts'

/** Any object of the API. */
export interface ApiObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly generation?: number
    readonly creationTimestamp?: string
    readonly deletionTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly finalizers?: readonly string[]
  }
}

interface ObjectList<T> {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: { readonly resourceVersion: string }
  readonly items: readonly T[]
}

/** Objects of a list, in which the server leaves out what they are. */
function itemsOf<T extends ApiObject>({ apiVersion, kind = '', items }: ObjectList<T>): readonly T[] {
  const type = { ...(apiVersion === undefined ? {} : { apiVersion }), kind: kind.replace(/List$/, '') }
  return items.map((item) => ({ ...type, ...item }))
}

interface Discovery {
  readonly resources: readonly {
    readonly name: string
    readonly kind: string
    readonly namespaced: boolean
  }[]
}

interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

/** What a collection holds, or one object of it that is new, changed or gone. */
export type CollectionChange<T> =
  | { readonly type: 'all'; readonly objects: readonly T[] }
  | { readonly type: 'changed' | 'gone'; readonly object: T }

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Of a request that the server wants to be asked later: the first one of a kind finds its storage still being made. */
const mostTries = 20

interface RequestParts {
  readonly body?: unknown
  readonly contentType?: string
  readonly signal?: AbortSignal
}

/**
 * A client of an API server, the lab's or a given one, that is not the product's: checks must not see the world through what they check.
 */
export class ApiClient implements Disposable {
  readonly kubeconfig: string
  readonly #server: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent: Agent
  readonly #discovered = new Map<string, Promise<Discovery>>()

  /** @param bearer a token to ask with, in place of the kubeconfig's user */
  constructor(kubeconfig: string, bearer?: string) {
    this.kubeconfig = kubeconfig
    const { server, ca, ...user } = readKubeconfig(kubeconfig)
    const { token, ...certificate } = bearer === undefined ? user : { token: bearer }
    this.#server = server
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const tls = { ...(ca === undefined ? {} : { ca }), ...certificate }
    this.#agent = new Agent({ connections: 16, bodyTimeout: 0, connect: tls })
  }

  /**
   * Sends a request and returns the parsed answer.
   *
   * @throws {ApiError} if the server answers with a status of 400 or above, or, with status 0, not at all
   */
  async call<T>(method: Method, path: string, body?: unknown, contentType = 'application/json'): Promise<T> {
    return this.#callFor<T>(method, path, { body, contentType })
  }

  /** Creates or changes an object by server-side apply and returns it as stored. */
  async apply<T extends ApiObject>(object: T): Promise<T> {
    const path = await this.#pathOf(object)
    return this.call('PATCH', `${path}?fieldManager=lab&force=true`, object, 'application/apply-patch+yaml')
  }

  /** Creates an object; unlike `apply` it fails if the object exists. */
  async create<T extends ApiObject>(object: T): Promise<T> {
    const path = await this.#pathOf(object)
    return this.call('POST', path.slice(0, path.lastIndexOf('/')), object)
  }

  /** Deletes an object; one that is gone already is fine. */
  async delete(object: ApiObject, gracePeriodSeconds?: number): Promise<void> {
    try {
      await this.call(
        'DELETE',
        await this.#pathOf(object),
        gracePeriodSeconds === undefined ? undefined : { gracePeriodSeconds },
      )
    } catch (error) {
      if (!(error instanceof ApiError && error.details.status === 404)) throw error
    }
  }

  /** Changes an object by a merge patch. */
  mergePatch<T extends ApiObject>(path: string, patch: unknown): Promise<T> {
    return this.call('PATCH', path, patch, 'application/merge-patch+json')
  }

  /** Lists the objects of a collection path. */
  async list<T extends ApiObject>(path: string): Promise<readonly T[]> {
    return itemsOf(await this.call<ObjectList<T>>('GET', path))
  }

  /**
   * Follows a collection until `until` finds what it waits for, or the signal fires.
   *
   * `until` is called with all objects once the list is there and after every change.
   *
   * @param path of a collection, with a query if need be
   */
  async follow<T extends ApiObject, R>(
    path: string,
    until: (objects: readonly T[]) => R | undefined,
    signal: AbortSignal,
  ): Promise<R> {
    const objects = new Map<string, T>()
    for await (const change of this.watch<T>(path, signal)) {
      if (change.type === 'all') {
        objects.clear()
        for (const object of change.objects) objects.set(keyOf(object), object)
      } else if (change.type === 'gone') objects.delete(keyOf(change.object))
      else objects.set(keyOf(change.object), change.object)
      const found = until([...objects.values()])
      if (found !== undefined) return found
    }
    throw signal.reason
  }

  /**
   * Lists a collection and tells what changes from then on, until the signal fires, which it throws.
   *
   * All objects come first, and again whenever the server ends the watch.
   *
   * @throws {ApiError} if the server refuses the list or the watch, or does not answer
   */
  async *watch<T extends ApiObject>(path: string, signal: AbortSignal): AsyncGenerator<CollectionChange<T>> {
    const separator = path.includes('?') ? '&' : '?'
    for (;;) {
      signal.throwIfAborted()
      const list = await this.#callFor<ObjectList<T>>('GET', path, { signal })
      yield { type: 'all', objects: itemsOf(list) }
      const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${list.metadata.resourceVersion}`
      const body = await this.#send('GET', `${path}${separator}${query}`, { signal })
      try {
        for await (const line of linesOf(body)) {
          const { type, object } = JSON.parse(line) as WatchEvent<T>
          if (type === 'ERROR') break
          if (type !== 'BOOKMARK') yield { type: type === 'DELETED' ? 'gone' : 'changed', object }
        }
      } finally {
        body.destroy()
      }
    }
  }

  async #callFor<T>(method: Method, path: string, parts: RequestParts): Promise<T> {
    const text = await (await this.#send(method, path, parts)).text()
    return (text.startsWith('{') ? JSON.parse(text) : text) as T
  }

  /** Sends a request and returns what is answered as it comes, if it is no refusal. A server that asks to be asked later is. */
  async #send(
    method: Method,
    path: string,
    parts: RequestParts,
    triesLeft = mostTries,
  ): Promise<Dispatcher.ResponseData['body']> {
    const { body, contentType = 'application/json', signal } = parts
    const response = await request(`${this.#server}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: { ...this.#headers, accept: 'application/json', 'content-type': contentType },
      body: body === undefined ? null : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    }).catch((cause: unknown) => {
      signal?.throwIfAborted()
      const reason = `${this.#server}: ${cause instanceof Error ? cause.message : String(cause)}`
      throw new ApiError('the API server does not answer', { method, path, status: 0, reason }, { cause })
    })
    if (response.statusCode < 400) return response.body
    const reason = readMessage(await response.body.text())
    const laterS = Number(response.headers['retry-after'] ?? Number.NaN)
    if (response.statusCode === 429 && triesLeft > 1 && laterS >= 0) {
      await delay(laterS * 1000, undefined, { signal })
      return this.#send(method, path, parts, triesLeft - 1)
    }
    throw new ApiError('the API server refused a request', {
      method,
      path,
      status: response.statusCode,
      reason,
    })
  }

  async #pathOf(object: ApiObject): Promise<string> {
    if (object.kind === undefined) throw new TypeError(`${object.metadata.name} says no kind`)
    const version = object.apiVersion ?? 'v1'
    const base = version.includes('/') ? `/apis/${version}` : `/api/${version}`
    const { resources } = await this.#discover(base)
    const resource = resources.find(({ name, kind }) => kind === object.kind && !name.includes('/'))
    if (resource === undefined) {
      this.#discovered.delete(base)
      const details = {
        method: 'GET',
        path: base,
        status: 404,
        reason: `no kind ${object.kind} in ${version}`,
      }
      throw new ApiError('the API server does not know a kind', details)
    }
    const namespace = resource.namespaced ? `/namespaces/${object.metadata.namespace ?? 'default'}` : ''
    return `${base}${namespace}/${resource.name}/${object.metadata.name}`
  }

  #discover(base: string): Promise<Discovery> {
    const known = this.#discovered.get(base)
    if (known !== undefined) return known
    const asked = this.call<Discovery>('GET', base)
    this.#discovered.set(base, asked)
    asked.catch(() => this.#discovered.delete(base))
    return asked
  }

  [Symbol.dispose](): void {
    void this.#agent.destroy()
  }
}

/** readline would lose the error of an aborted stream. */
async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
}

function keyOf(object: ApiObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`
}

function readMessage(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text
  } catch {
    return text
  }
}
