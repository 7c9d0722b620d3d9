import { AttachmentDiffersError, AttachmentError, type AttachmentStage } from '../errors.ts'
import { KeyedMutex } from '../keyed-mutex.ts'
import { findInterface, hasUserspaceDatapath } from '../local-ovs.ts'
import { removeEach } from '../remove-each.ts'
import { Announcements } from '../announcements.ts'
import { awaitAllocation, awaitDelegatedAllocation } from './allocation-wait.ts'
import { readAllocation, type Allocation, type DelegatedAllocation } from './allocation.ts'
import type { Attachment, PodNicDependencies } from './dependencies.ts'
import { attachmentId, desiredAttachment, type DesiredAttachment } from './desired.ts'
import type { PodDevice } from './device.ts'
import { announcePodEnd, comparePodEnd, configurePodEnd } from './link.ts'
import { awaitGateways } from './gateway-check.ts'
import { formerHostNicName, hostNicName } from './names.ts'
import { PodPorts } from './ports.ts'
import type { AttachmentRequest } from './snapshot.ts'
import { VethDevice } from './veth.ts'

/** What became of a port and its link. */
interface Detachment {
  /** Whether there was anything to remove. */
  readonly wasThere: boolean
  /** Why the row of the port is still there. */
  readonly failure: Error | undefined
}

/** An attachment that is not complete yet, by the name of the host's end. */
interface Addition {
  readonly hostName: string
  readonly abort: AbortController
}

/** Attaches pods to the network and takes them off again. */
export class PodNics implements Disposable {
  readonly #deps: PodNicDependencies
  readonly #idleListeners = new Set<(hostName: string) => void>()
  readonly #mutex = new KeyedMutex((hostName) => {
    for (const listener of this.#idleListeners) listener(hostName)
  })
  readonly #announcements: Announcements
  readonly #ports: PodPorts
  readonly #device: PodDevice
  /** Those that were asked for and have not ended, also such as wait for another one of their interface. */
  readonly #additions = new Set<Addition>()

  constructor(dependencies: PodNicDependencies) {
    this.#deps = dependencies
    const { ovs, kernel, clock, log } = dependencies
    this.#announcements = new Announcements({
      clock,
      log,
      onAnnounceFailed: () => dependencies.reporter.announceFailed(),
    })
    this.#ports = new PodPorts(ovs, clock)
    this.#device = new VethDevice(kernel, log)
  }

  [Symbol.dispose](): void {
    this.#announcements[Symbol.dispose]()
    for (const { abort } of this.#additions) abort.abort(new Error('the agent is stopping'))
  }

  /** Whether an addition or a removal of this interface is under way. */
  isBusy(hostName: string): boolean {
    return this.#mutex.has(hostName)
  }

  /** Tells of each interface on which an addition or a removal has ended, and no other one waits. */
  onIdle(listener: (hostName: string) => void): Disposable {
    this.#idleListeners.add(listener)
    return { [Symbol.dispose]: () => void this.#idleListeners.delete(listener) }
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
      const hostName = hostNicName(request.containerId, request.ifName)
      const attachment = await this.#unlessRemoved(hostName, signal, (either) =>
        this.#mutex.run(hostName, () => this.#add(request, hostName, either, startedMs, seen)),
      )
      this.#deps.log.info('attachment added', {
        pod: keyOf(request),
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
    const hostName = hostNicName(asked.containerId, asked.ifName)
    const former = this.#formerName(asked)
    const request = this.#named(asked, former ?? hostName)
    const reason = this.#error(request, 'get-pod', 'the runtime removes the attachment')
    for (const addition of this.#additions) if (addition.hostName === hostName) addition.abort.abort(reason)
    try {
      let isRemoved = false
      for (const name of former === undefined ? [hostName] : [hostName, former]) {
        // A row that is still there is collected as stale: the pod must not hang for a database that does not answer.
        const { wasThere } = await this.#mutex.run(name, () => this.#detach(name))
        isRemoved ||= wasThere
      }
      if (!isRemoved) return
      this.#deps.log.info('attachment removed', {
        pod: keyOf(request),
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
    const hostName = this.#formerName(request) ?? hostNicName(request.containerId, request.ifName)
    const { pods, subnets, nodes, nodeName } = this.#deps
    const labels = nodes.store.get(nodeName)?.metadata.labels ?? {}
    const found = readAllocation(request, { pods: pods.store, subnets: subnets.store, labels }, true)
    if ('reason' in found) throw this.#error(request, found.stage, found.reason)
    const wanted = this.#desired(request, hostName, found)
    const differences = [
      ...this.#ports.compare(wanted),
      ...this.#device.compare(hostName),
      ...comparePodEnd(this.#deps.kernel, wanted),
    ]
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

  /** The name that upstream or an earlier release gave to this attachment, if it is of them. */
  #formerName({ containerId, ifName, podNamespace, podName, netns }: AttachmentRequest): string | undefined {
    const name = formerHostNicName(containerId, ifName)
    const ids = name === undefined ? undefined : findInterface(this.#deps.ovs, name)?.external_ids
    if (ids === undefined) return undefined
    const owner = ids[attachmentId.containerId]
    // Upstream does not note the container.
    const isOfPod =
      (netns !== '' && ids[attachmentId.podNetns] === netns) ||
      (podName !== '' &&
        ids[attachmentId.podName] === podName &&
        ids[attachmentId.podNamespace] === podNamespace)
    return (owner === undefined ? isOfPod : owner === containerId) ? name : undefined
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

  /** Adds until the runtime goes away, or says that it wants the interface no more. */
  async #unlessRemoved<T>(
    hostName: string,
    signal: AbortSignal,
    add: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const addition = { hostName, abort: new AbortController() }
    this.#additions.add(addition)
    try {
      return await add(AbortSignal.any([signal, addition.abort.signal]))
    } finally {
      this.#additions.delete(addition)
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
    await this.#replaceLeftOver(keyOf(request), hostName, signal)
    const ovnWaitMs = await this.#configure(request, wanted, allocation, signal)
    // Not before: until its flows are there, nobody would hear of it.
    this.#announcements.announce(hostName, () => announcePodEnd(this.#deps.kernel, wanted))
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
      provider: allocation.provider,
      routes: allocation.routes,
      ...(allocation.forwards === true ? { forwards: true } : {}),
    })
  }

  /** Makes link and port, and answers how long ovn-controller and gateways took after that. */
  async #configure(
    request: AttachmentRequest,
    wanted: DesiredAttachment,
    { subnet, isUnderlay, physicalGateways: gateways }: Allocation,
    signal: AbortSignal,
  ): Promise<number> {
    const { kernel, clock, log } = this.#deps
    const pod = keyOf(request)
    let committed: Promise<unknown> = Promise.resolve()
    try {
      this.#device.create(wanted)
      committed = this.#ports.add(wanted)
      // Meanwhile the pod's end is configured; a refusal is seen below.
      committed.catch(() => undefined)
      configurePodEnd(kernel, wanted, log)
      await committed
      const configuredMs = clock.monotonic()
      await this.#ports.awaitInstalled(pod, wanted, signal)
      if (isUnderlay) await this.#ports.awaitConnected(pod, subnet, signal)
      await awaitGateways(kernel, clock, { ...wanted, pod, subnet, gateways }, signal)
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

  /** Removes what an earlier try left, so that the name can be used again. */
  async #replaceLeftOver(pod: string, hostName: string, signal: AbortSignal): Promise<void> {
    this.#announcements.cancel(hostName)
    await this.#ports.release(pod, hostName, signal)
    this.#device.remove(hostName)
  }

  /** Removes port and link; the link also when the database does not let go of the port. */
  async #detach(hostName: string): Promise<Detachment> {
    this.#announcements.cancel(hostName)
    let hadPort = true
    let failure: Error | undefined
    try {
      hadPort = await this.#ports.remove(hostName)
    } catch (error) {
      failure = error instanceof Error ? error : new TypeError(String(error))
      this.#deps.log.warn('port was not removed yet', { hostName, err: error })
    }
    return { wasThere: this.#device.remove(hostName) || hadPort, failure }
  }

  #error(
    request: AttachmentRequest,
    stage: AttachmentStage,
    reason: string,
    cause?: unknown,
  ): AttachmentError {
    return new AttachmentError({ pod: keyOf(request), stage, reason }, { cause })
  }
}

function keyOf({ podNamespace, podName }: AttachmentRequest): string {
  return `${podNamespace}/${podName}`
}

function stageOf(error: unknown): AttachmentStage {
  return error instanceof AttachmentError ? error.details.stage : 'configure-nic'
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
