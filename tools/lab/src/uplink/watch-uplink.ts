import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { inspectContainer } from '../docker/container.ts'
import { unlessMissing } from '../docker/engine.ts'
import { ensureLabImage } from '../docker/image.ts'
import { eventually } from '../kubernetes/wait.ts'
import { insideContainer, runAt, tryAt } from '../namespaces.ts'
import { runProgram } from '../program.ts'
import { readNoted, renderUplinkTables, type Uplink } from './filter.ts'

/** A watch over the links by which packets leave the machine. */
export interface UplinkWatch {
  readonly uplinks: readonly string[]
  /** Ends the watch, and tells which packets of labs left, or were about to. */
  stop(): Promise<readonly string[]>
}

/**
 * Watches the machine's uplinks for packets of any lab until stopped.
 *
 * nftables notes what is routed to an uplink before it is masqueraded, and what is handed to it. It runs in a container on the host's network,
 * from the image that nodes have, so that the host needs none; nothing is dropped or changed. If this process dies, the container ends, and
 * with it the tables.
 *
 * @param given instead of the links of the default routes
 */
export async function watchUplink(given?: readonly Uplink[]): Promise<UplinkWatch> {
  const uplinks = given ?? (await findUplinks())
  if (uplinks.length === 0) return { uplinks: [], stop: () => Promise.resolve([]) }
  const name = `kube-ovn-uplink-${process.pid}`
  const table = name.replaceAll('-', '_')
  const tables = renderUplinkTables(table, uplinks)
  const child = spawn(
    'docker',
    [
      ...['run', '--rm', '--interactive', '--network', 'host', '--name', name, '--cap-add', 'NET_ADMIN'],
      ...[await ensureLabImage('node'), 'nft', '--interactive'],
    ],
    { stdio: ['pipe', 'ignore', 'pipe'] },
  )
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close')
  // nft keeps the tables for as long as its input is open.
  child.stdin.on('error', () => undefined).write(tables)
  async function end(): Promise<void> {
    child.stdin.end()
    await ended
  }
  try {
    const place = await eventually('the uplink is watched', async () => {
      if (child.exitCode !== null || output.includes('Error:'))
        throw new Error(`the uplink can not be watched: ${output}`)
      const container = await unlessMissing(inspectContainer(name))
      if (container === undefined) return undefined
      const { exitCode } = await tryAt(insideContainer(container), ['nft', 'list', 'table', 'netdev', table])
      return exitCode === 0 ? insideContainer(container) : undefined
    })
    const list = (family: string): Promise<string> =>
      runAt(place, ['nft', '--json', 'list', 'table', family, table])
    return {
      uplinks: uplinks.map((uplink) => uplink.name),
      async stop() {
        try {
          return [
            ...readNoted(await list('inet'), 'routed to the uplink'),
            ...readNoted(await list('netdev'), 'sent by the uplink'),
          ]
        } finally {
          await end()
        }
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

interface DefaultRoute {
  readonly dev?: string
}

interface LinkAddresses {
  readonly addr_info: readonly { readonly local?: string; readonly prefixlen?: number }[]
}

/** The links of the host's default routes. */
async function findUplinks(): Promise<readonly Uplink[]> {
  const routes = await Promise.all(
    ['-4', '-6'].map(async (family) => {
      const output = await runProgram('ip', ['-json', family, 'route', 'show', 'default'])
      return JSON.parse(output === '' ? '[]' : output) as readonly DefaultRoute[]
    }),
  )
  const names = [...new Set(routes.flat().flatMap(({ dev }) => (dev === undefined ? [] : [dev])))]
  return Promise.all(
    names.map(async (name) => {
      const [link] = JSON.parse(
        await runProgram('ip', ['-json', 'address', 'show', 'dev', name]),
      ) as LinkAddresses[]
      const networks = (link?.addr_info ?? []).map(
        ({ local, prefixlen }) => `${local ?? ''}/${prefixlen ?? ''}`,
      )
      return { name, networks }
    }),
  )
}
