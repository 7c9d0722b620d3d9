import { connect } from 'node:net'
import { UnansweredError } from './errors.ts'
import { JsonSplitter } from './json-splitter.ts'

/** The rows that a table must have, as in the operation `wait` of RFC 7047 (5.2.6). */
interface WantedRows {
  readonly database: string
  readonly table: string
  readonly where: readonly (readonly [column: string, is: string, value: unknown])[]
  readonly columns: readonly string[]
  readonly rows: readonly object[]
}

/**
 * Resolves when the server at `tcp:IP:PORT` has these rows.
 *
 * The server keeps the question as long as the connection, and `signal` ends this: nothing is left of it on either side.
 * An `ovsdb-client` would wait on in its container, where no signal of ours reaches it.
 *
 * @throws UnansweredError when the server refuses the question, or ends instead of answering it
 */
export async function awaitRows(address: string, wanted: WantedRows, signal: AbortSignal): Promise<void> {
  const { database, ...rows } = wanted
  const [, host = '', port] = address.split(':')
  const socket = connect({ host, port: Number(port), signal })
  const params = [database, { op: 'wait', until: '==', ...rows }]
  socket.write(JSON.stringify({ id: 'wait', method: 'transact', params }))
  const messages = new JsonSplitter()
  for await (const chunk of socket) {
    for (const text of messages.push(chunk as Buffer)) {
      const message = JSON.parse(text) as Message
      if (message.method === 'echo') {
        socket.write(JSON.stringify({ id: message.id, result: message.params, error: null }))
      } else if (JSON.stringify(message.result) === '[{}]') {
        return
      } else {
        throw new UnansweredError(address, text)
      }
    }
  }
  throw new UnansweredError(address, '')
}

/** The answer, or the server asking whether somebody is there. */
interface Message {
  readonly id: unknown
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
}
