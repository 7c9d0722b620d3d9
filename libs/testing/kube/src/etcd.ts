import { Pool } from 'undici'
import { FixtureError } from './errors.ts'

interface KeyValue {
  readonly key: string
  readonly value?: string
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

  /** All keys under a prefix, with their values, both as etcd has them. */
  async entries(prefix: string): Promise<Map<string, string>> {
    const answer = await this.#call('/v3/kv/range', { key: encode(prefix), range_end: encode(endOf(prefix)) })
    const entries = new Map<string, string>()
    for (const { key, value } of (answer as { readonly kvs?: readonly KeyValue[] }).kvs ?? []) {
      entries.set(Buffer.from(key, 'base64').toString('utf8'), value ?? '')
    }
    return entries
  }

  /** Puts back a value that {@link entries} gave. */
  async put(key: string, value: string): Promise<void> {
    await this.#call('/v3/kv/put', { key: encode(key), value })
  }

  async remove(key: string): Promise<void> {
    await this.#call('/v3/kv/deleterange', { key: encode(key) })
  }

  /** Forgets all history: lists and watches that go on from before cannot be served from here any more. */
  async compact(): Promise<void> {
    const answer = await this.#call('/v3/kv/range', { key: encode('/'), limit: '1' })
    const { header } = answer as { readonly header: { readonly revision: string } }
    await this.#call('/v3/kv/compaction', { revision: header.revision, physical: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.destroy()
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

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** First key after all that begin with `prefix`. */
function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}
