import type { Lifelines, LocalOvs } from '@kube-ovn/features-node'
import { openVswitchRow } from '@kube-ovn/features-node'
import { tryPort } from '@kube-ovn/probes'
import { sleep, type Clock } from '@kube-ovn/time'

interface Way {
  readonly name: string
  readonly address: string
  readonly port: number
}

/** How long one connection may take; a packet that is lost is sent again after a second. */
const attemptMs = 1_500
/** Between an attempt that was refused and the next one: nobody tells when the way is there. */
const pauseMs = 250

/** The ways from the node to the API server and to the Southbound, tried by connections of their own. */
export class ClusterLifelines implements Lifelines {
  readonly #server: string
  readonly #ovs: Pick<LocalOvs, 'cache'>
  readonly #clock: Clock

  /** @param server URL of the API server */
  constructor(server: string, ovs: Pick<LocalOvs, 'cache'>, clock: Clock) {
    this.#server = server
    this.#ovs = ovs
    this.#clock = clock
  }

  async answering(): Promise<readonly string[]> {
    const tried = await Promise.all(this.#ways.map(async (way) => ((await isOpen(way)) ? [way.name] : [])))
    return tried.flat()
  }

  async answered(names: readonly string[], signal: AbortSignal): Promise<void> {
    const ways = this.#ways.filter(({ name }) => names.includes(name))
    await Promise.all(
      ways.map(async (way) => {
        for (;;) {
          signal.throwIfAborted()
          if (await isOpen(way)) return
          await sleep(this.#clock, pauseMs, signal)
        }
      }),
    )
  }

  get #ways(): readonly Way[] {
    const remotes = openVswitchRow(this.#ovs)?.external_ids['ovn-remote'] ?? ''
    return [wayTo(this.#server), ...remotes.split(',').map(remoteOf)].filter((way) => way !== undefined)
  }
}

async function isOpen({ address, port }: Way): Promise<boolean> {
  return (await tryPort({ protocol: 'tcp', address, port }, attemptMs)).isOpen
}

function wayTo(server: string): Way {
  const { hostname, port, protocol } = new URL(server)
  const address = hostname.replace(/^\[|\]$/g, '')
  const number = port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port)
  return { name: `tcp:${hostname}:${number}`, address, port: number }
}

/** A database in another place: `tcp:10.0.0.1:6642`, `ssl:[fd00::1]:6642`. One on this node needs no way. */
function remoteOf(remote: string): Way | undefined {
  const match = /^(?:tcp|ssl):(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(remote.trim())
  const address = match?.[1] ?? match?.[2]
  return match === null || address === undefined
    ? undefined
    : { name: remote.trim(), address, port: Number(match[3]) }
}
