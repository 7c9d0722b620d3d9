import type { Operation } from 'ovsdb-client'
import { AttachmentDiffersError, AttachmentError, type AttachmentStage } from '../errors.ts'
import { KeyedMutex } from '../keyed-mutex.ts'
import {
  addPortOperations,
  findAttached,
  findBridge,
  findInterface,
  hasUserspaceDatapath,
  integrationBridge,
  isInstalled,
  openVswitchRow,
  removePortOperations,
} from '../local-ovs.ts'
import { removeEach } from '../remove-each.ts'
import { waitUntil, withinMs } from '../wait-until.ts'
import { Announcements } from './announcements.ts'
import { awaitAllocation, awaitDelegatedAllocation } from './allocation-wait.ts'
import { readAllocation, type Allocation, type DelegatedAllocation } from './allocation.ts'
import type { Attachment, PodNicDependencies } from './dependencies.ts'
import { attachmentId, desiredAttachment, type DesiredAttachment } from './desired.ts'
import { comparePodEnd, configurePodEnd, createPair } from './link.ts'
import { hostNicName, longestInterfaceName } from './names.ts'
import type { AttachmentRequest } from './snapshot.ts'

/** How long ovn-controller may take to install the flows of a port that the Northbound has. */
const installTimeoutMs = 30_000

/** How long vswitchd may take to let go of a port whose name is needed again. */
const releaseTimeoutMs = 5_000

/** What became of a port and its link. */
interface Detachment {
  /** Whether there was anything to remove. */
  readonly wasThere: boolean
  /** Why the row of the port is still there. */
  readonly failure: Error | undefined
}

/** Attaches pods to the network and takes them off again. */
export class PodNics implements Disposable {
  readonly #deps: PodNicDependencies
  readonly #mutex = new KeyedMutex()
  readonly #announcements: Announcements
  /** Additions under way, by name of the host's end. */
  readonly #adding = new Map<string, AbortController>()

  constructor(dependencies: PodNicDependencies) {
    this.#deps = dependencies
    this.#announcements = new Announcements(dependencies)
  }

  [Symbol.dispose](): void {
    this.#announcements[Symbol.dispose]()
    for (const adding of this.#adding.values()) adding.abort(new Error('the agent is stopping'))
  }

  /** Whether an addition or a removal of this interface is under way. */
  isBusy(hostName: string): boolean {
    return this.#mutex.has(hostName)
  }

  /**
   * Attaches a pod, and answers once its packets flow.
   *
   * Costs one netlink request for the pair, about six in the pod's namespace, and one transaction; no process is
   * started and nothing is polled. On any failure, and when `signal` is aborted because the runtime went away,
   * everything is taken back. Whatever an earlier try left behind under the same name is replaced.
   *
   * @throws AttachmentError
   */
  async add(request: AttachmentRequest, signal: AbortSignal): Promise<Attachment> {
    const startedMs = this.#deps.clock.monotonic()
    const seen = { uid: request.podUid }
    try {
      const hostName = requireHostName(request)
      const abort = new AbortController()
      const attachment = await this.#mutex.run(hostName, async () => {
        this.#adding.set(hostName, abort)
        try {
          return await this.#add(request, hostName, AbortSignal.any([signal, abort.signal]), startedMs, seen)
        } finally {
          this.#adding.delete(hostName)
        }
      })
      this.#deps.log.info('attachment added', {
        pod: `${request.podNamespace}/${request.podName}`,
        ip: attachment.wanted.externalIds[attachmentId.ip] ?? '',
        subnet: attachment.allocation.subnet,
        hostName,
        ...attachment.timings,
      })
      this.#deps.reporter.added(request, attachment)
      return attachment
    } catch (error) {
      // Nobody is there any more to whom a failure would matter.
      if (!signal.aborted) this.#deps.reporter.addFailed(request, seen.uid, stageOf(error), error)
      throw error
    }
  }

  /**
   * Tells the addresses of a further interface, which another plugin makes (macvlan, host-device, …), once the
   * controller has given them. Makes nothing, so that there is nothing to take back.
   *
   * @throws AttachmentError
   */
  async delegate(request: AttachmentRequest, signal: AbortSignal): Promise<DelegatedAllocation> {
    try {
      return await awaitDelegatedAllocation(request, this.#deps, signal)
    } catch (error) {
      if (!signal.aborted) this.#deps.reporter.addFailed(request, request.podUid, stageOf(error), error)
      throw error
    }
  }

  /** Takes a pod off the network; that it is not on it is fine. Needs neither the pod's namespace nor its name. */
  async remove(asked: AttachmentRequest): Promise<void> {
    const hostName = requireHostName(asked)
    const request = this.#named(asked, hostName)
    this.#adding.get(hostName)?.abort(this.#error(request, 'get-pod', 'the runtime removes the attachment'))
    try {
      // A row that is still there is collected as stale: the pod must not hang for a database that does not answer.
      const { wasThere } = await this.#mutex.run(hostName, () => this.#detach(hostName))
      if (!wasThere) return
      this.#deps.log.info('attachment removed', {
        pod: `${request.podNamespace}/${request.podName}`,
        hostName,
      })
      this.#deps.reporter.removed(request)
    } catch (error) {
      this.#deps.reporter.removeFailed(request, error)
      throw error
    }
  }

  /**
   * Compares an attachment with what ADD made.
   *
   * @throws AttachmentDiffersError
   */
  async check(request: AttachmentRequest): Promise<void> {
    const hostName = requireHostName(request)
    const { pods, subnets } = this.#deps
    const found = readAllocation(request, { pods: pods.store, subnets: subnets.store }, true)
    if ('reason' in found) throw this.#error(request, found.stage, found.reason)
    const wanted = this.#desired(request, hostName, found)
    const differences: string[] = []
    const attached = findAttached(this.#deps.ovs, hostName)
    if (attached === undefined) differences.push(`port ${hostName} is missing on ${integrationBridge}`)
    const ifaceId = attached?.interface.external_ids[attachmentId.ifaceId]
    const wantedId = wanted.externalIds[attachmentId.ifaceId]
    if (attached !== undefined && ifaceId !== wantedId) {
      differences.push(`port ${hostName} is bound to ${ifaceId ?? 'nothing'}, not to ${wantedId ?? ''}`)
    }
    if (this.#deps.kernel.host.link(hostName)?.isUp !== true)
      differences.push(`link ${hostName} is missing or down`)
    differences.push(...comparePodEnd(this.#deps.kernel, wanted))
    if (differences.length > 0) throw new AttachmentDiffersError({ differences })
  }

  /**
   * Removes attachments of a network that the runtime no longer knows.
   *
   * Ports that do not say which container they belong to (upstream's) are left to the collection of stale ports.
   *
   * @throws PortsNotRemovedError when some of them are still there; all others are gone
   */
  async collect(
    network: string,
    valid: readonly { readonly containerId: string; readonly ifName: string }[],
  ): Promise<number> {
    const kept = new Set(valid.map(({ containerId, ifName }) => `${containerId}/${ifName}`))
    const left = [...this.#deps.ovs.cache.scan('Interface')].filter(({ name, external_ids: ids }) => {
      const containerId = ids[attachmentId.containerId]
      if (containerId === undefined || ids[attachmentId.network] !== network) return false
      return !kept.has(`${containerId}/${ids[attachmentId.ifName] ?? ''}`) && !this.isBusy(name)
    })
    await removeEach(left, async ({ name: hostName }) => {
      await this.removePort(hostName)
      this.#deps.log.info('left-over attachment removed', { hostName })
    })
    return left.length
  }

  /**
   * Removes a port that is known to be stale, and its link.
   *
   * @throws what kept the port or the link from being removed
   */
  async removePort(hostName: string): Promise<void> {
    const { failure } = await this.#mutex.run(hostName, () => this.#detach(hostName))
    if (failure !== undefined) throw failure
  }

  /** Completes a request that does not say which pod it is about, by what the port says. */
  #named(request: AttachmentRequest, hostName: string): AttachmentRequest {
    if (request.podName !== '') return request
    const ids = findInterface(this.#deps.ovs, hostName)?.external_ids ?? {}
    return {
      ...request,
      podName: ids[attachmentId.podName] ?? '',
      podNamespace: ids[attachmentId.podNamespace] ?? '',
      podUid: ids[attachmentId.podUid] ?? '',
    }
  }

  async #add(
    request: AttachmentRequest,
    hostName: string,
    signal: AbortSignal,
    startedMs: number,
    seen: { uid: string },
  ): Promise<Attachment> {
    const { clock } = this.#deps
    const waitStartedMs = clock.monotonic()
    const allocation = await awaitAllocation(request, this.#deps, signal)
    seen.uid = allocation.uid
    const controllerWaitMs = clock.monotonic() - waitStartedMs
    const wanted = this.#desired(request, hostName, allocation)
    await this.#replaceLeftOver(request, hostName, signal)
    const ovnWaitMs = await this.#configure(request, wanted, signal)
    // Not before: until its flows are there, nobody would hear of it.
    this.#announcements.announce(wanted)
    const agentMs = clock.monotonic() - startedMs - controllerWaitMs - ovnWaitMs
    return {
      allocation,
      wanted,
      timings: {
        agentMs: round(agentMs),
        controllerWaitMs: round(controllerWaitMs),
        ovnWaitMs: round(ovnWaitMs),
      },
    }
  }

  #desired(request: AttachmentRequest, hostName: string, allocation: Allocation): DesiredAttachment {
    return desiredAttachment({
      request,
      holder: allocation.holder,
      hostName,
      mac: allocation.mac,
      addresses: allocation.addresses,
      mtu: allocation.mtu > 0 ? allocation.mtu : (this.#deps.tunnelMtu.value ?? 0),
      hasUserspaceDatapath: hasUserspaceDatapath(this.#deps.ovs),
      ownsDefaultRoute: allocation.ownsDefaultRoute,
    })
  }

  /** Makes link and port, and answers how long ovn-controller took after that. */
  async #configure(
    request: AttachmentRequest,
    wanted: DesiredAttachment,
    signal: AbortSignal,
  ): Promise<number> {
    const { ovs, kernel, clock, log } = this.#deps
    let committed: Promise<unknown> = Promise.resolve()
    try {
      createPair(kernel, wanted, log)
      committed = ovs.transact(this.#portOperations(wanted))
      // Meanwhile the pod's end is configured; a refusal is seen below.
      committed.catch(() => undefined)
      configurePodEnd(kernel, wanted, log)
      await committed
      const configuredMs = clock.monotonic()
      await this.#awaitInstalled(request, wanted, signal)
      return clock.monotonic() - configuredMs
    } catch (error) {
      // A port that is still on its way into the database would come after everything was taken back.
      await committed.catch(() => undefined)
      await this.#detach(wanted.hostName)
      if (error instanceof AttachmentError) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw this.#error(request, 'configure-nic', reason, error)
    }
  }

  #portOperations(wanted: DesiredAttachment): readonly Operation[] {
    const { ovs } = this.#deps
    const bridge = findBridge(ovs, integrationBridge)
    if (bridge === undefined)
      throw new TypeError(`bridge ${integrationBridge} does not exist; is ovn-controller running?`)
    const ifaceId = wanted.externalIds[attachmentId.ifaceId] ?? ''
    // ovn-controller binds a logical port to one interface: the one of an earlier sandbox must not win.
    const rivals = ovs.cache.find('Interface', 'external_ids:iface-id', ifaceId)
    return [
      ...rivals.map((row) =>
        ovs.operations.mutate('Interface', row._uuid, [['external_ids', 'delete', [attachmentId.ifaceId]]]),
      ),
      ...addPortOperations(ovs, bridge, { name: wanted.hostName, external_ids: wanted.externalIds }),
    ]
  }

  async #awaitInstalled(
    request: AttachmentRequest,
    wanted: DesiredAttachment,
    signal: AbortSignal,
  ): Promise<void> {
    const { ovs, clock } = this.#deps
    const port = wanted.externalIds[attachmentId.ifaceId] ?? ''
    await withinMs(
      clock,
      installTimeoutMs,
      signal,
      () =>
        this.#error(
          request,
          'configure-nic',
          `ovn-controller has not installed the flows of port ${port} within ${installTimeoutMs / 1000} s; ` +
            'its log on this node says why',
        ),
      (bounded) =>
        waitUntil(
          () => (isInstalled(findInterface(ovs, wanted.hostName)) ? true : undefined),
          (recheck) => [ovs.onChange(recheck)],
          bounded,
        ),
    )
  }

  /** Removes what an earlier try left, and lets vswitchd close the old device before its name is used again. */
  async #replaceLeftOver(request: AttachmentRequest, hostName: string, signal: AbortSignal): Promise<void> {
    const { ovs, clock } = this.#deps
    this.#announcements.cancel(hostName)
    const attached = findAttached(ovs, hostName)
    const root = openVswitchRow(ovs)
    if (attached !== undefined && root !== undefined) {
      await ovs.transact([
        ...removePortOperations(ovs, attached),
        ovs.operations.mutate('Open_vSwitch', root._uuid, [['next_cfg', '+=', 1]]),
      ])
      const wanted = openVswitchRow(ovs)?.next_cfg ?? 0
      await withinMs(
        clock,
        releaseTimeoutMs,
        signal,
        () =>
          this.#error(
            request,
            'configure-nic',
            `ovs-vswitchd does not let go of the earlier port ${hostName}`,
          ),
        (bounded) =>
          waitUntil(
            () => ((openVswitchRow(ovs)?.cur_cfg ?? 0) >= wanted ? true : undefined),
            (recheck) => [ovs.onChange(recheck)],
            bounded,
          ),
      )
    }
    this.#removeLink(hostName)
  }

  /** Removes port and link; the link also when the database does not let go of the port. */
  async #detach(hostName: string): Promise<Detachment> {
    const { ovs, log } = this.#deps
    this.#announcements.cancel(hostName)
    const attached = findAttached(ovs, hostName)
    let failure: Error | undefined
    try {
      if (attached !== undefined) await ovs.transact(removePortOperations(ovs, attached))
    } catch (error) {
      failure = error instanceof Error ? error : new TypeError(String(error))
      log.warn('port was not removed yet', { hostName, err: error })
    }
    return { wasThere: this.#removeLink(hostName) || attached !== undefined, failure }
  }

  #removeLink(hostName: string): boolean {
    const { host } = this.#deps.kernel
    const link = host.link(hostName)
    if (link === undefined || link.kind !== 'veth') return false
    host.removeLink(link.index)
    return true
  }

  #error(
    request: AttachmentRequest,
    stage: AttachmentStage,
    reason: string,
    cause?: unknown,
  ): AttachmentError {
    const pod = `${request.podNamespace}/${request.podName}`
    return new AttachmentError({ pod, stage, reason }, { cause })
  }
}

function requireHostName(request: AttachmentRequest): string {
  const hostName = hostNicName(request.containerId, request.ifName)
  if (hostName !== undefined) return hostName
  throw new AttachmentError({
    pod: `${request.podNamespace}/${request.podName}`,
    stage: 'validate-request',
    reason: `interface name "${request.ifName}" is too long: at most ${longestInterfaceName} characters`,
  })
}

function stageOf(error: unknown): AttachmentStage {
  return error instanceof AttachmentError ? error.details.stage : 'configure-nic'
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
