import { watch } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { FixtureError } from './errors.ts'
import { PATIENCE_MS } from './patience.ts'
import type { RightUse } from './rights.ts'

/** A request that was to change something, as the API server's audit log has it. */
export interface ApiWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'
  /** Plural, with the subresource if there is one: `pods/status`. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly user: string
  readonly userAgent: string
  /** HTTP status of the answer. */
  readonly code: number
}

/** A request of a ServiceAccount, also one that only reads. */
export interface AccountRequest extends RightUse {
  /** The account had no right to it. */
  readonly isRefused: boolean
}

interface AuditEvent {
  readonly auditID: string
  readonly stage: string
  readonly verb: string
  readonly user: { readonly username: string }
  readonly userAgent?: string
  readonly objectRef?: {
    readonly apiGroup?: string
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
  readonly responseStatus?: { readonly code?: number }
  readonly annotations?: Readonly<Record<string, string>>
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/** Beside 403, which admission also answers with, e.g. to a write into a namespace that is going away. */
const DECISION = 'authorization.k8s.io/decision'

const READ_SIZE = 1 << 16

/**
 * Reads an audit log while it is written.
 *
 * A request is logged before it is carried out and once more after it was answered, so a request whose answer somebody
 * has seen is in the log at least as begun; {@link settled} waits for the rest of it.
 */
export class AuditLog implements AsyncDisposable {
  readonly #path: string
  readonly #file: FileHandle
  readonly #onRequest: (request: AccountRequest) => void
  readonly #begun = new Set<string>()
  #writes: ApiWrite[] = []
  #rest = Buffer.alloc(0)

  private constructor(path: string, file: FileHandle, onRequest: (request: AccountRequest) => void) {
    this.#path = path
    this.#file = file
    this.#onRequest = onRequest
  }

  /** `onRequest` is told each request of a ServiceAccount when it is read here. */
  static async open(path: string, onRequest: (request: AccountRequest) => void): Promise<AuditLog> {
    return new AuditLog(path, await open(path, 'r'), onRequest)
  }

  /** Yields all requests that were answered since the last {@link clear}, once none is under way. */
  async settled(): Promise<readonly ApiWrite[]> {
    let changed = Promise.withResolvers<void>()
    let isLate = false
    using resources = new DisposableStack()
    resources.adopt(
      watch(this.#path, () => changed.resolve()),
      (watcher) => watcher.close(),
    )
    function expire(): void {
      isLate = true
      changed.resolve()
    }
    resources.adopt(setTimeout(expire, PATIENCE_MS), clearTimeout)
    for (;;) {
      await this.#read()
      if (this.#begun.size === 0) {
        await this.#requireSame()
        return [...this.#writes]
      }
      if (isLate) {
        throw new FixtureError('Requests were not answered in time', {
          what: this.#path,
          output: [...this.#begun].join(', '),
          cure: 'wait for quiet before counting',
        })
      }
      await changed.promise
      changed = Promise.withResolvers<void>()
    }
  }

  /** Gives up on requests under way: the server was killed, and will not answer them. */
  async abandon(): Promise<void> {
    await this.#read()
    this.#begun.clear()
  }

  /** Forgets what was logged so far. */
  async clear(): Promise<void> {
    await this.settled()
    this.#writes = []
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close()
  }

  /** What is logged after a rotation would be missing, and look like no request at all. */
  async #requireSame(): Promise<void> {
    const [held, named] = await Promise.all([this.#file.stat(), stat(this.#path)])
    if (held.ino === named.ino) return
    throw new FixtureError('The log was rotated', {
      ...{ what: this.#path, output: '' },
      cure: 'raise --audit-log-maxsize of the API server',
    })
  }

  async #read(): Promise<void> {
    const chunk = Buffer.alloc(READ_SIZE)
    for (;;) {
      const { bytesRead } = await this.#file.read(chunk, 0, READ_SIZE, null)
      if (bytesRead === 0) return
      const text = Buffer.concat([this.#rest, chunk.subarray(0, bytesRead)])
      const end = text.lastIndexOf('\n') + 1
      this.#rest = text.subarray(end)
      for (const line of text.subarray(0, end).toString('utf8').split('\n')) {
        if (line !== '') this.#take(JSON.parse(line) as AuditEvent)
      }
    }
  }

  #take(event: AuditEvent): void {
    if (event.stage === 'RequestReceived') {
      this.#begun.add(event.auditID)
      return
    }
    const { apiGroup: group = '', subresource, namespace = '', name = '' } = event.objectRef ?? {}
    const plural = event.objectRef?.resource ?? ''
    const resource = subresource === undefined ? plural : `${plural}/${subresource}`
    const { verb, user } = event
    const [, accountNamespace, accountName] = ACCOUNT.exec(user.username) ?? []
    if (accountNamespace !== undefined && accountName !== undefined && plural !== '') {
      const account = `${accountNamespace}/${accountName}`
      const isRefused = event.annotations?.[DECISION] === 'forbid'
      this.#onRequest({ account, verb, group, resource, namespace, name, isRefused })
    }
    if (READS.has(verb) || !this.#begun.delete(event.auditID)) return
    this.#writes.push({
      verb: verb as ApiWrite['verb'],
      resource,
      namespace,
      name,
      user: user.username,
      userAgent: event.userAgent ?? '',
      code: event.responseStatus?.code ?? 0,
    })
  }
}
