import type { PlanAnswer, PlanRequest } from '@kube-ovn/assembly-controller'
import { parseJson, stringifyJson } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { chmod, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'

/** Room for some thousand objects. */
const mostBytes = 16 * 1024 * 1024
/** A plan is made in one go, so that nothing changes meanwhile: what is longer would hold up the work. */
const mostChanges = 500
/** Who has not asked by then is not waited for. */
const patienceMs = 30_000

export interface PlanServerOptions {
  /** A unix socket, which only the user of this process may open. */
  readonly path: string
  /** Tells a plan, while this process leads. */
  readonly planner: () => ((request: PlanRequest) => PlanAnswer) | undefined
  readonly log: Logger
}

/** Answers what changes of objects would come to: one question and one answer, as JSON, for each connection. */
export async function servePlans({ path, planner, log }: PlanServerOptions): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.setTimeout(patienceMs, () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    // Who asked may be gone before the answer.
    socket.on('error', () => undefined)
    void answer(socket, planner, log)
  })
  // That of a process before.
  await rm(path, { force: true })
  server.listen(path)
  await once(server, 'listening')
  await chmod(path, 0o600)
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

async function answer(socket: Socket, planner: PlanServerOptions['planner'], log: Logger): Promise<void> {
  try {
    const request = readRequest(await readAll(socket))
    const plan = planner()
    if (plan === undefined) return reply(socket, { problem: notLeading })
    const startedMs = performance.now()
    const planned = plan(request)
    log.info('plan told', {
      changes: request.changes.length,
      rows: planned.rows.length,
      ms: Math.round(performance.now() - startedMs),
    })
    reply(socket, planned)
  } catch (error) {
    reply(socket, { problem: error instanceof Error ? error.message : String(error) })
  }
}

const notLeading = 'this controller does not lead; ask the one that does'

function reply(socket: Socket, answer: object): void {
  socket.end(stringifyJson(answer))
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes)
      throw new RangeError(`more than ${mostBytes} bytes; ask for parts, one after the other`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Whoever may open the socket may also write nonsense. */
function readRequest(text: string): PlanRequest {
  let request: unknown
  try {
    request = parseJson(text)
  } catch {
    throw new TypeError('the question is no JSON; ask by kubectl ko plan')
  }
  const { version, changes } = fieldsOf(request)
  if (version !== 1 || !Array.isArray(changes))
    throw new TypeError(
      'the question has another form than this controller knows; use kubectl-ko of its version',
    )
  if (changes.length > mostChanges)
    throw new RangeError(
      `${changes.length} changes are more than ${mostChanges}; ask for parts, one after the other`,
    )
  for (const change of changes) {
    const { verb, object } = fieldsOf(change)
    const { apiVersion, kind, metadata } = fieldsOf(object)
    const { name, namespace } = fieldsOf(metadata)
    const isNamed =
      typeof name === 'string' && name !== '' && ['string', 'undefined'].includes(typeof namespace)
    if (!isNamed || typeof apiVersion !== 'string' || typeof kind !== 'string')
      throw new TypeError('an object lacks apiVersion, kind or metadata.name; write them')
    if (verb !== 'apply' && verb !== 'delete')
      throw new TypeError(`an object would be ${String(verb)}; write apply or delete`)
  }
  return request as PlanRequest
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
