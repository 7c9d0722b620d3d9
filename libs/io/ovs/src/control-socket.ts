import { errorCode } from '@kube-ovn/errors'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { DaemonRefusedError, DaemonUnreachableError } from './errors.ts'

export interface DaemonQuestion {
  /** Of the control socket. */
  readonly path: string
  /** A command of ovs-appctl(8), e.g. `version`. */
  readonly method: string
  readonly args?: readonly string[]
  readonly timeoutMs: number
}

/** No daemon says more to what we ask; one that does is given up. */
const longestAnswer = 16 * 1024 * 1024

/**
 * Finds the control socket of a daemon by the file with its process id: `ovs-vswitchd.pid` and `ovs-vswitchd.4711.ctl` are side by side.
 *
 * @throws DaemonUnreachableError when it does not run, or never did
 */
export async function controlSocketOf(pidFile: string): Promise<string> {
  const pid = await readFile(pidFile, 'utf8').catch((cause: unknown) => {
    throw new DaemonUnreachableError({ path: pidFile, reason: errorCode(cause) ?? String(cause) }, { cause })
  })
  if (!/^\d+\s*$/.test(pid))
    throw new DaemonUnreachableError({ path: pidFile, reason: 'no process id in it' })
  return `${pidFile.replace(/\.pid$/, '')}.${pid.trim()}.ctl`
}

/**
 * Asks a daemon, and answers what it says.
 *
 * The protocol is JSON-RPC 1.0: one object each way, without anything between them.
 *
 * @throws DaemonUnreachableError, DaemonRefusedError
 * @see ovs-appctl(8), lib/unixctl.c
 */
export function askDaemon({ path, method, args = [], timeoutMs }: DaemonQuestion): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    let text = ''
    function end(settle: () => void): void {
      clearTimeout(timer)
      socket.destroy()
      settle()
    }
    function give(reason: string, cause?: unknown): void {
      end(() => reject(new DaemonUnreachableError({ path, reason }, { cause })))
    }
    const timer = setTimeout(() => give(`no answer to ${method} in ${timeoutMs} ms`), timeoutMs)
    socket.setEncoding('utf8')
    socket.on('error', (error) => give(errorCode(error) ?? String(error), error))
    socket.on('end', () => give(`hung up on ${method}`))
    socket.on('connect', () => socket.write(JSON.stringify({ id: 0, method, params: args })))
    socket.on('data', (chunk: string) => {
      text += chunk
      if (text.length > longestAnswer) return give(`more than ${longestAnswer} bytes in answer to ${method}`)
      const answer = tryParse(text)
      if (answer === undefined) return
      const { result, error } = answer
      if (typeof result === 'string') end(() => resolve(result))
      else end(() => reject(new DaemonRefusedError({ path, method, reason: String(error).trim() })))
    })
  })
}

/** The answer, once it is complete. */
function tryParse(text: string): { readonly result?: unknown; readonly error?: unknown } | undefined {
  // Cheap, so that a long answer that comes in pieces is not parsed for each of them.
  if (!text.trimEnd().endsWith('}')) return undefined
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : undefined
  } catch {
    return undefined
  }
}
