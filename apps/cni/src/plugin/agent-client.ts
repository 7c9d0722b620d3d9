import { errorCode } from '@kube-ovn/errors'

/** What the agent said. */
export interface AgentAnswer {
  readonly status: number
  readonly body: string
}

/**
 * What Bun's fetch takes beyond the standard's.
 *
 * @see https://bun.com/docs/api/fetch
 */
interface UnixRequest extends RequestInit {
  /** The socket that the server listens on. */
  readonly unix: string
  readonly timeout: false
}

/**
 * Sends one request to the agent. Works in Bun only, which is what the plugin is compiled with: its fetch is native, so that the
 * process starts in a third of the time that loading `node:http` takes.
 *
 * It has no time-out: the runtime's deadline is the bound, and when the runtime kills this process, the agent sees
 * the connection close and gives up what it was doing.
 *
 * @throws the system's error, with its code as message, if nobody answers
 */
export async function askAgent(socketPath: string, path: string, body: unknown): Promise<AgentAnswer> {
  const request: UnixRequest = {
    unix: socketPath,
    timeout: false,
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(body),
  }
  try {
    const response = await fetch(`http://dummy${path}`, request)
    return { status: response.status, body: await response.text() }
  } catch (cause) {
    const code = errorCode(cause)
    throw code === undefined ? cause : new Error(code, { cause })
  }
}
