import { startSilentServer } from '@kube-ovn/testing-ovsdb'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const version = { gitVersion: 'v1.34.0' }
const nobody = { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: [] }

/** A node without pods and nodes to ask, none of whose daemons ever says a word. */
export interface SilentNode extends AsyncDisposable {
  /** For a pinger on it. */
  readonly flags: readonly string[]
}

/**
 * @param isClosed only its owner may enter the directory of its sockets
 */
export async function startSilentNode({ isClosed = false } = {}): Promise<SilentNode> {
  await using stack = new AsyncDisposableStack()
  const root = await mkdtemp(join(tmpdir(), 'silent-node-'))
  stack.defer(() => rm(root, { recursive: true }))
  await chmod(root, 0o755)
  const run = join(root, 'run')
  await mkdir(run)
  const daemons = ['ovsdb-server', 'ovs-vswitchd', 'ovn-controller']
  for (const daemon of daemons) await writeFile(join(run, `${daemon}.pid`), '1\n')
  for (const name of ['db.sock', ...daemons.map((daemon) => `${daemon}.1.ctl`)])
    stack.use(await startSilentServer(join(run, name)))
  if (isClosed) await chmod(run, 0o700)
  const { address, ...api } = await serveNobody()
  stack.use(api)
  const kubeconfig = join(root, 'kubeconfig')
  await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(address)))
  const owned = stack.move()
  return {
    flags: [
      ...[`--kubeconfig=${kubeconfig}`, `--database.vswitch.socket.remote=unix:${run}/db.sock`],
      `--database.vswitch.file.pid.path=${run}/ovsdb-server.pid`,
      `--database.vswitch.file.log.path=${run}/ovsdb-server.log`,
      `--database.vswitch.file.data.path=${run}/conf.db`,
      `--service.vswitchd.file.pid.path=${run}/ovs-vswitchd.pid`,
      `--service.vswitchd.file.log.path=${run}/ovs-vswitchd.log`,
      `--service.ovncontroller.file.pid.path=${run}/ovn-controller.pid`,
    ],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** An API server in whose cluster there is nothing, and never will be. */
async function serveNobody(): Promise<AsyncDisposable & { readonly address: string }> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://api')
    response.setHeader('Content-Type', 'application/json')
    if (searchParams.has('watch')) response.flushHeaders()
    else response.end(JSON.stringify(pathname === '/version' ? version : nobody))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function kubeconfigFor(server: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
}
