import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { inspectContainer } from '../docker/container.ts'
import { ensureLabImage } from '../docker/image.ts'
import { quote } from '../cluster/shell-script.ts'
import { eventually } from '../kubernetes/wait.ts'
import { insideContainer, runAt, tryAt } from '../namespaces.ts'
import { runProgram } from '../program.ts'
import { readNoted, renderCaptureFilter, renderUplinkTable, type Uplink } from './filter.ts'

/** A watch over the links by which packets leave the machine. */
export interface UplinkWatch {
  readonly uplinks: readonly string[]
  /** Ends the watch, and tells which packets of labs left, or were about to. */
  stop(): Promise<readonly string[]>
}

/**
 * Watches the machine's uplinks for packets of any lab until stopped.
 *
 * Two looks at the same thing: nftables notes what is routed to an uplink before it is masqueraded, tcpdump what is on the wire. Both run
 * in a container on the host's network, from the image that nodes have, so that the host needs neither; nothing is dropped or changed. If
 * this process dies, the container ends, and with it table and capture.
 *
 * @param given instead of the links of the default routes
 */
export async function watchUplink(given?: readonly Uplink[]): Promise<UplinkWatch> {
  const uplinks = given ?? (await findUplinks())
  if (uplinks.length === 0) return { uplinks: [], stop: () => Promise.resolve([]) }
  const name = `kube-ovn-uplink-${process.pid}`
  const table = name.replaceAll('-', '_')
  const child = spawn(
    'docker',
    [
      ...['run', '--rm', '--interactive', '--network', 'host', '--name', name],
      ...['--cap-add', 'NET_ADMIN', '--cap-add', 'NET_RAW', await ensureLabImage('node')],
      ...['sh', '-c', renderWatchScript(uplinks)],
    ],
    { stdio: ['pipe', 'ignore', 'pipe'] },
  )
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close')
  child.stdin.on('error', () => undefined).write(renderUplinkTable(table, uplinks))
  const place = await eventually('the uplink is watched', async () => {
    if (child.exitCode !== null) throw new Error(`the watch over the uplink ended: ${output}`)
    if (output.split('listening on').length <= uplinks.length) return undefined
    const container = await inspectContainer(name)
    const { exitCode } = await tryAt(insideContainer(container), ['nft', 'list', 'table', 'inet', table])
    return exitCode === 0 ? insideContainer(container) : undefined
  })
  return {
    uplinks: uplinks.map((uplink) => uplink.name),
    async stop() {
      const noted = readNoted(await runAt(place, ['nft', '--json', 'list', 'table', 'inet', table]))
      child.stdin.end()
      await ended
      return [...noted, ...readCaptured(output)]
    },
  }
}

/** nft keeps the table for as long as its input is open; the captures are of the same container and end with it. */
function renderWatchScript(uplinks: readonly Uplink[]): string {
  const filter = quote(renderCaptureFilter(uplinks))
  const captures = uplinks.map(
    ({ name }) => `tcpdump --immediate-mode -n -l -p -t -Q out -i ${quote(name)} ${filter} >&2 &`,
  )
  return [...captures, 'exec nft --interactive'].join('\n')
}

/** Lines of packets begin with the protocol; the rest is what tcpdump says about itself. */
export function readCaptured(output: string): readonly string[] {
  const lines = output.split('\n').filter((line) => /^(IP6?|ARP)[ ,]/.test(line))
  return [...Map.groupBy(lines, (line) => line)].map(
    ([line, { length }]) => `${line}${length > 1 ? `  × ${length}` : ''}`,
  )
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
