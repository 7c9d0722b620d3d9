import { definitionInformers, followDefinitions, watchedDefinitions, Stores } from '@kube-ovn/domains-control'
import type { ControlFeature, ControlSettings, AllocatingWorld } from '@kube-ovn/domains-control'
import { vpcResource, type Vpc } from '@kube-ovn/kube-api'
import { Informer } from '@kube-ovn/kube'
import type { EventRecorder, KubeClient, KubeObject } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import type { OvnNorthbound, OvnSouthbound } from '@kube-ovn/ovsdb-schema'
import { kubeObjects } from '@kube-ovn/reconcile'
import type { AnyInformer, Kernel, KernelOptions, KubeEvent } from '@kube-ovn/reconcile'
import type { Clock } from '@kube-ovn/time'
import type { OvsdbClient } from 'ovsdb-client'
import { assembleKernel } from './assemble-kernel.ts'
import { declarationsOf } from './declarations-of.ts'
import { DefinitionDeletion } from './definition-deletion.ts'
import { controlFeatures } from './features.ts'
import type { AskNode } from './ask-node.ts'
import { OrphanConfirmation } from './orphan-confirmation.ts'

export interface ControllerOptions extends Pick<KernelOptions<AllocatingWorld>, 'lock' | 'metrics'> {
  readonly client: KubeClient
  readonly recorder: EventRecorder
  /** It is connected here, and disposed by who made it. */
  readonly northbound: OvsdbClient<OvnNorthbound>
  /** With {@link southboundTables}. It is connected here as well; nothing but chassis waits for it, and without it these are let alone. */
  readonly southbound?: OvsdbClient<OvnSouthbound> | undefined
  readonly settings: ControlSettings
  /** What requests to the API server wait by. */
  readonly clock: Clock
  /** What the kernel and its features go by. `clock` when absent. */
  readonly kernelClock?: Clock
  readonly logger: Logger
  /** All of the controller's when absent. */
  readonly features?: readonly ControlFeature[]
  /** How gateway nodes are asked whether they are there. Default: by a connection. */
  readonly askNode?: AskNode
  /** Told at the start how to learn what is not known yet: resources, as `kubectl` names them. */
  readonly onReading?: (unknown: () => readonly string[]) => void
}

/** The controller at work. */
export interface AssembledController extends AsyncDisposable {
  readonly kernel: Kernel<AllocatingWorld>
  readonly world: AllocatingWorld
  readonly informers: readonly AnyInformer[]
  readonly deletion: DefinitionDeletion
}

/**
 * Reads everything that there is, joins the controller's parts, and sets them to work.
 *
 * @param signal ends the start with its reason; afterwards, what keeps the objects up to date
 */
export async function assembleController(
  options: ControllerOptions,
  signal?: AbortSignal,
): Promise<AssembledController> {
  const {
    client,
    recorder,
    northbound,
    southbound,
    settings,
    clock,
    kernelClock = clock,
    logger,
    features = controlFeatures,
    askNode,
    onReading,
    ...ofKernel
  } = options
  const record = (event: KubeEvent): void => recorder.record(event)
  await using stack = new AsyncDisposableStack()
  const watching = { client, clock, logger }
  const { watches } = declarationsOf(features)
  const informers = watches.map(({ namespace, ...watch }) => {
    const place = namespace === undefined ? {} : { namespace: settings.namespace }
    return new Informer({ ...watching, ...watch, ...place })
  })
  const definitions = definitionInformers((watch) => new Informer({ ...watching, ...watch }))
  const all = [...informers, ...definitions]
  for (const informer of all) {
    stack.use(informer)
    informer.start(signal)
  }
  onReading?.(() => unknownOf(all))
  // It is connected for as long as the client lives; that it is not yet is told by who follows its state.
  southbound?.connect(signal).catch(() => undefined)
  await Promise.all([northbound.connect(signal), recorder.recall(), ...all.map(({ synced }) => synced)])

  const deletion = stack.use(new DefinitionDeletion({ client, clock, log: logger, record }))
  const certain = informers.map((informer) => deletion.informer(informer))
  await deletion.settled()
  const vpcs = informers.find(({ resource }) => resource === vpcResource) as Informer<Vpc>
  const asked = { vpc: settings.clusterRouter, vpcs, record }
  const confirmation = stack.use(
    new OrphanConfirmation({ ...asked, confirm: (token) => kernel.confirmOrphans(token) }),
  )
  const chassisConfirmation = stack.use(
    new OrphanConfirmation({ ...asked, confirm: (token) => chassisKeeper?.confirm(token) }),
  )
  const { kernel, world, signals, gatewayProbe, chassisKeeper, start } = assembleKernel({
    ...ofKernel,
    features,
    settings,
    stores: new Stores(informers.map(({ resource, store }) => [resource, deletion.view(resource, store)])),
    definitions: watchedDefinitions(definitions),
    database: northbound,
    objects: kubeObjects({ client, informers: certain, record }),
    clock: kernelClock,
    logger,
    onOrphansHeld: (held) => confirmation.held(held),
    gateways: { record, ask: askNode },
    chassis: southbound && {
      ...{ southbound, lock: ofKernel.lock, record },
      onHeld: (held) => chassisConfirmation.held(held),
    },
  })
  stack.use(kernel)
  stack.use(gatewayProbe)
  stack.use(chassisKeeper)
  stack.use(followDefinitions(definitions, (signal, plural) => signals.raise(signal, plural)))
  await start(signal)
  gatewayProbe?.start()
  chassisKeeper?.start()
  confirmation.start()
  chassisConfirmation.start()
  const parts = stack.move()
  return { kernel, world, informers, deletion, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

function unknownOf(
  informers: readonly Pick<Informer<KubeObject>, 'health' | 'resource'>[],
): readonly string[] {
  const names = informers
    .filter(({ health }) => !health.isSynced)
    .map(({ resource: { plural, group } }) => (group === '' ? plural : `${plural}.${group}`))
  return [...new Set(names)]
}
