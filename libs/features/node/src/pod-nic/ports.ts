import { localnetPortName } from '@kube-ovn/ovn-names'
import type { Clock } from '@kube-ovn/time'
import type { Operation } from 'ovsdb-client'
import { AttachmentError } from '../errors.ts'
import {
  addPortOperations,
  findAttached,
  findBridge,
  findInterface,
  integrationBridge,
  isInstalled,
  openVswitchRow,
  removePortOperations,
  unbindOperations,
  type LocalOvs,
} from '../local-ovs.ts'
import { waitUntil, withinMs } from '../wait-until.ts'
import { attachmentId, type DesiredAttachment } from './desired.ts'

/** How long ovn-controller may take to install the flows of a port that the Northbound has. */
const installTimeoutMs = 30_000

/** How long vswitchd may take to let go of a port whose name is needed again. */
const releaseTimeoutMs = 5_000

/** The ports of pods in Open vSwitch, whatever device is behind them. */
export class PodPorts {
  readonly #ovs: LocalOvs
  readonly #clock: Clock

  constructor(ovs: LocalOvs, clock: Clock) {
    this.#ovs = ovs
    this.#clock = clock
  }

  /** Adds the port of a host's end that is there, in one transaction. */
  async add(wanted: DesiredAttachment): Promise<void> {
    await this.#ovs.transact(this.#additions(wanted))
  }

  /** Resolves when ovn-controller has installed the flows of the port. */
  async awaitInstalled(pod: string, wanted: DesiredAttachment, signal: AbortSignal): Promise<void> {
    const port = wanted.externalIds[attachmentId.ifaceId] ?? ''
    const reason =
      `ovn-controller has not installed the flows of port ${port} within ${installTimeoutMs / 1000} s; ` +
      'its log on this node says why'
    await this.#until(
      () => isInstalled(findInterface(this.#ovs, wanted.hostName)),
      { timeoutMs: installTimeoutMs, signal },
      () => new AttachmentError({ pod, stage: 'configure-nic', reason }),
    )
  }

  /** Resolves when ovn-controller has connected the switch of an underlay subnet to the bridge of its physical network. */
  async awaitConnected(pod: string, subnet: string, signal: AbortSignal): Promise<void> {
    const port = `patch-${localnetPortName(subnet)}-to-${integrationBridge}`
    const reason =
      `ovn-controller has not made port ${port} within ${installTimeoutMs / 1000} s; ` +
      'is this node connected to the ProviderNetwork?'
    await this.#until(
      () => findInterface(this.#ovs, port) !== undefined,
      { timeoutMs: installTimeoutMs, signal },
      () => new AttachmentError({ pod, stage: 'configure-nic', reason }),
    )
  }

  /** Removes a port that an earlier try left, and lets vswitchd close its device before the name is used again. */
  async release(pod: string, hostName: string, signal: AbortSignal): Promise<void> {
    const ovs = this.#ovs
    const attached = findAttached(ovs, hostName)
    const root = openVswitchRow(ovs)
    if (attached === undefined || root === undefined) return
    await ovs.transact([
      ...removePortOperations(ovs, attached),
      ovs.operations.mutate('Open_vSwitch', root._uuid, [['next_cfg', '+=', 1]]),
    ])
    const wanted = openVswitchRow(ovs)?.next_cfg ?? 0
    const reason = `ovs-vswitchd does not let go of the earlier port ${hostName}`
    await this.#until(
      () => (openVswitchRow(ovs)?.cur_cfg ?? 0) >= wanted,
      { timeoutMs: releaseTimeoutMs, signal },
      () => new AttachmentError({ pod, stage: 'configure-nic', reason }),
    )
  }

  /** Removes a port; answers whether it was there. */
  async remove(hostName: string): Promise<boolean> {
    const attached = findAttached(this.#ovs, hostName)
    if (attached === undefined) return false
    await this.#ovs.transact(removePortOperations(this.#ovs, attached))
    return true
  }

  /** What differs from what was made. */
  compare({ hostName, externalIds }: DesiredAttachment): readonly string[] {
    const attached = findAttached(this.#ovs, hostName)
    if (attached === undefined) return [`port ${hostName} is missing on ${integrationBridge}`]
    const ifaceId = attached.interface.external_ids[attachmentId.ifaceId]
    const wantedId = externalIds[attachmentId.ifaceId]
    if (ifaceId === wantedId) return []
    return [`port ${hostName} is bound to ${ifaceId ?? 'nothing'}, not to ${wantedId ?? ''}`]
  }

  #additions(wanted: DesiredAttachment): readonly Operation[] {
    const ovs = this.#ovs
    const bridge = findBridge(ovs, integrationBridge)
    if (bridge === undefined)
      throw new TypeError(`bridge ${integrationBridge} does not exist; is ovn-controller running?`)
    return [
      ...unbindOperations(ovs, wanted.externalIds[attachmentId.ifaceId]),
      ...addPortOperations(ovs, bridge, { name: wanted.hostName, external_ids: wanted.externalIds }),
    ]
  }

  async #until(
    isSo: () => boolean,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
    timeoutError: () => AttachmentError,
  ): Promise<void> {
    await withinMs(this.#clock, timeoutMs, signal, timeoutError, (bounded) =>
      waitUntil(
        () => (isSo() ? true : undefined),
        (recheck) => [this.#ovs.onChange(recheck)],
        bounded,
      ),
    )
  }
}
