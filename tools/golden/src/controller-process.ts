import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { recordedFlags } from '@kube-ovn/testing-golden'
import type { GoldenCase } from '@kube-ovn/testing-golden'
import type { Stage } from './stage.ts'

/** Where Node keeps what it has compiled: a controller is started for each case. */
const compileCache = process.env['NODE_COMPILE_CACHE']

/** Starts the controller as a plain process, as a user would outside a cluster, with the flags of the recording and the rights that the chart gives. */
export async function startController(
  repository: string,
  stage: Stage,
  golden: GoldenCase,
  logDirectory: string,
): Promise<AsyncDisposable> {
  const log = openSync(join(logDirectory, `${golden.name.replaceAll('/', '-')}.log`), 'w', 0o600)
  const child = spawn(
    process.execPath,
    [
      join(repository, 'apps/controller/src/main.ts'),
      ...recordedFlags(golden.profile),
      ...golden.flags,
      `--ovn-nb-addr=${stage.northbound.address}`,
      `--kubeconfig=${stage.controllerKubeconfig}`,
      '--pprof-port=0',
    ],
    {
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env['PATH'] ?? '',
        ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
        POD_NAMESPACE: 'kube-system',
        POD_NAME: 'kube-ovn-controller',
        NODE_NAME: 'n1',
      },
    },
  )
  const exited = once(child, 'exit')
  await once(child, 'spawn')
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
