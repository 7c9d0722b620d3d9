import { askDaemon, controlSocketOf } from './control-socket.ts'

/** Where a bridge sends frames for a MAC address in a VLAN. */
export interface MacEntry {
  /** As OpenFlow numbers them, or `LOCAL`. */
  readonly port: string
  /** 0 of frames without a tag. */
  readonly vlan: number
  readonly mac: string
  /** Somebody has written it: it does not age, and frames teach the bridge nothing else. */
  readonly isStatic: boolean
}

interface MacTablesOptions {
  /** Of ovs-vswitchd, with its process id. */
  readonly pidFile: string
  readonly timeoutMs: number
}

/**
 * The tables by which bridges forward where a flow says NORMAL. They are in the memory of ovs-vswitchd, and end with it.
 *
 * All throw {@link DaemonUnreachableError}, and {@link DaemonRefusedError} of a bridge or port that there is not.
 *
 * @see ovs-vswitchd(8), fdb/show
 */
export class MacTables {
  readonly #options: MacTablesOptions

  constructor(options: MacTablesOptions) {
    this.#options = options
  }

  async show(bridge: string): Promise<readonly MacEntry[]> {
    return parseMacTable(await this.#ask('fdb/show', bridge))
  }

  /** Writes a static entry in the place of any other one; the port is given by its name. */
  async add(bridge: string, { port, vlan, mac }: Omit<MacEntry, 'isStatic'>): Promise<void> {
    await this.#ask('fdb/add', bridge, port, String(vlan), mac)
  }

  async remove(bridge: string, { vlan, mac }: Pick<MacEntry, 'vlan' | 'mac'>): Promise<void> {
    await this.#ask('fdb/del', bridge, String(vlan), mac)
  }

  async #ask(method: string, ...args: readonly string[]): Promise<string> {
    const { pidFile, timeoutMs } = this.#options
    return askDaemon({ path: await controlSocketOf(pidFile), method, args, timeoutMs })
  }
}

/** Reads the answer to `fdb/show`: port, VLAN, MAC address and age, below a line of titles. */
export function parseMacTable(text: string): readonly MacEntry[] {
  return [...text.matchAll(/^ *(\S+) +(\d+) +([0-9a-f:]{17}) +(\S+)$/gm)].map(
    ([, port = '', vlan, mac = '', age]) => ({ port, vlan: Number(vlan), mac, isStatic: age === 'static' }),
  )
}
