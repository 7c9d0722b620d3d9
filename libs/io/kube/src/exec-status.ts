import { parseJson } from './json.ts'
import type { Status } from './status.ts'

/** The streams of a command, as the first byte of each message names them. */
export const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const

/** What the server speaks: the newer one can also tell a command that its input has ended. */
export const execProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const

/** How a command ended: a Status that does not say that it is one. */
export interface ExecStatus extends Status {
  readonly status?: string
}

/** Reads the last message of an exec. What is no JSON becomes the message. */
export function parseExecStatus(text: string): ExecStatus {
  try {
    const parsed = parseJson(text)
    if (typeof parsed === 'object' && parsed !== null) return parsed
  } catch {
    // As older servers say that they could not connect.
  }
  return { message: text.trim() }
}

/**
 * The exit code of a command, as the last message of an exec tells it; none when the command did not run.
 *
 * @see https://pkg.go.dev/k8s.io/apimachinery/pkg/util/remotecommand
 */
export function exitCodeOf(status: ExecStatus): number | undefined {
  if (status.status === 'Success') return 0
  if (status.reason !== 'NonZeroExitCode') return undefined
  const code = Number(status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message)
  return Number.isInteger(code) ? code : undefined
}
