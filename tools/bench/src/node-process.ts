import { execFile } from 'node:child_process'
import type { LabNode } from '@kube-ovn/lab'

export interface NodeResult {
  readonly exitCode: number
  readonly output: string
}

/**
 * Runs a program as a process of a node: with its files, its network and, unlike a probe, its process ids, which a program needs that
 * looks at itself in /proc.
 */
export function runOnNode(
  node: LabNode,
  command: readonly string[],
  options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<NodeResult> {
  const enter = [
    '--target',
    String(node.place.machinePid),
    '--mount',
    '--uts',
    '--ipc',
    '--net',
    '--pid',
    '--',
  ]
  return new Promise((resolve, reject) => {
    const child = execFile(
      'nsenter',
      [...enter, ...command],
      { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...options.env } },
      (error, stdout, stderr) => {
        if (typeof error?.code === 'string') reject(new Error(`can not enter ${node.name}`, { cause: error }))
        else resolve({ exitCode: error === null ? 0 : (child.exitCode ?? 1), output: `${stdout}${stderr}` })
      },
    )
    // A program that ends without reading its input is judged by its exit code.
    child.stdin?.on('error', () => undefined).end(options.input ?? '')
  })
}
