import { execFile } from 'node:child_process'
import { resolve } from 'node:path'

/** As `npm run build` makes it. */
export const program = resolve(import.meta.dirname, '../../../../dist/programs/kubectl-ko')

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `kubectl ko` as a user does. */
export type Ko = (...args: readonly string[]) => Promise<Ended>

/** Runs it on the cluster of a kubeconfig. */
export function koOf(kubeconfig: string, directory = '/'): Ko {
  return (...args) => {
    const { promise, resolve: end } = Promise.withResolvers<Ended>()
    const env = { ...process.env, KUBECONFIG: kubeconfig }
    const options = { cwd: directory, env, maxBuffer: 64 * 1024 * 1024 }
    execFile(program, args, options, (error, stdout, stderr) => {
      const code: unknown = error?.code
      end({ exitCode: error === null ? 0 : typeof code === 'number' ? code : -1, stdout, stderr })
    })
    return promise
  }
}
