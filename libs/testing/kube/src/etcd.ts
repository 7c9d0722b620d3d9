import { Pool } from 'undici'
import { FixtureError } from './errors.ts'

interface KeyValue {
  readonly key: string
  readonly value?: string
  readonly mod_revision: string
}

/** A value as etcd has it, and when it was written. */
export interface Entry {
  readonly value: string
  readonly revision: string
}

/**
 * Speaks to etcd behind the API server's back, over its JSON gateway.
 *
 * Removing keys there is the quickest way to empty a cluster: no finalizer, no grace period, and watches still see
 * proper deletions, each with a revision of its own.
 */
export class Etcd implements AsyncDisposable {
  readonly #pool: Pool

  constructor(address: string) {
    this.#pool = new Pool(`http://${address}:2379`, { connections: 16, allowH2: false })
  }

  /** All keys under a prefix, with their values. */
  async entries(prefix: string): Promise<Map<string, Entry>> {
    return new Map(
      (await this.#range(prefix, false)).map(({ key, value = '', mod_revision: revision }) => [
        decode(key),
        { value, revision },
      ]),
    )
  }

  /** All keys under a prefix, each with the revision in which it was written last. */
  async revisions(prefix: string): Promise<Map<string, string>> {
    return revisionsOf(await this.#range(prefix, true))
  }

  /** The same for each of several prefixes, all as of one moment. */
  async revisionsUnder(prefixes: readonly string[]): Promise<readonly ReadonlyMap<string, string>[]> {
    const success = prefixes.map((prefix) => ({ request_range: rangeOf(prefix, true) }))
    const { responses = [] } = (await this.#call('/v3/kv/txn', { success })) as Transaction
    return responses.map(({ response_range: { kvs = [] } }) => revisionsOf(kvs))
  }

  /** Puts back a value that {@link entries} gave, and yields the revision that this made. */
  async put(key: string, value: string): Promise<string> {
    const answer = await this.#call('/v3/kv/put', { key: encode(key), value })
    return (answer as Answer).header.revision
  }

  async remove(key: string): Promise<void> {
    await this.#call('/v3/kv/deleterange', { key: encode(key) })
  }

  /** Forgets all history: lists and watches that go on from before cannot be served from here any more. */
  async compact(): Promise<void> {
    const answer = await this.#call('/v3/kv/range', { key: encode('/'), limit: '1' })
    await this.#call('/v3/kv/compaction', { revision: (answer as Answer).header.revision, physical: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.destroy()
  }

  async #range(prefix: string, keysOnly: boolean): Promise<readonly KeyValue[]> {
    return ((await this.#call('/v3/kv/range', rangeOf(prefix, keysOnly))) as Range).kvs ?? []
  }

  async #call(path: string, request: object): Promise<unknown> {
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path,
      body: JSON.stringify(request),
    })
    if (statusCode === 200) return body.json()
    throw new FixtureError('etcd refused a request', {
      what: path,
      output: await body.text(),
      cure: 'read etcd.log',
    })
  }
}

interface Answer {
  readonly header: { readonly revision: string }
}

interface Range {
  readonly kvs?: readonly KeyValue[]
}

interface Transaction {
  readonly responses?: readonly { readonly response_range: Range }[]
}

function rangeOf(prefix: string, keysOnly: boolean): object {
  return { key: encode(prefix), range_end: encode(endOf(prefix)), keys_only: keysOnly }
}

function revisionsOf(kvs: readonly KeyValue[]): Map<string, string> {
  return new Map(kvs.map(({ key, mod_revision }) => [decode(key), mod_revision]))
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8')
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** First key after all that begin with `prefix`. */
function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}
