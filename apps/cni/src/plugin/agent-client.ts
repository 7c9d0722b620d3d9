import { request } from 'node:http'

/** What the agent said. */
export interface AgentAnswer {
  readonly status: number
  readonly body: string
}

/**
 * Sends one request to the agent.
 *
 * It has no time-out: the runtime's deadline is the bound, and when the runtime kills this process, the agent sees
 * the connection close and gives up what it was doing.
 */
export function askAgent(socketPath: string, path: string, body: unknown): Promise<AgentAnswer> {
  const payload = JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        socketPath,
        path,
        method: 'POST',
        headers: {
          host: 'dummy',
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
          connection: 'close',
        },
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}
