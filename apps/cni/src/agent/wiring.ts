import { dirname, join } from 'node:path'
import { hostname } from 'node:os'
import { BfdMonitor } from '@kube-ovn/bgp/bfd'
import {
  createNodeKernel,
  findInterface,
  HostEnds,
  isKeptNic,
  isInstalled,
  localOvsTables,
  nodeNicName,
  Observable,
  PodNics,
  probationFolder,
} from '@kube-ovn/features-node'
import { EventRecorder, KubeClient, loadAccess } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { openNetfilter } from '@kube-ovn/netfilter'
import { holdFreshNamespace, openFlows, openNetlink, readSysctl, writeSysctl } from '@kube-ovn/netlink'
import { BridgeConnection, flowOf, MacTables } from '@kube-ovn/ovs'
import { openVswitchSchema, type OpenVswitch } from '@kube-ovn/ovsdb-schema'
import { announceAddresses } from '@kube-ovn/probes'
import { bindAddresses, DatabaseConnection, serveHealth, systemClock } from '@kube-ovn/process'
import { openSecureServing } from '@kube-ovn/serving'
import {
  agentMetrics,
  clientMetrics,
  databaseMetrics,
  fragmentMetrics,
  nodeParameterMetrics,
  type Registry,
} from '@kube-ovn/telemetry'
import { ProbationFiles } from '@kube-ovn/fragments'
import { OvsdbClient } from 'ovsdb-client'
import { serveApi } from './api-server.ts'
import type { AgentConfig } from './config.ts'
import { answerConnectionChecks } from './connection-checks.ts'
import { createHandlers } from './handlers.ts'
import { createInformers, createServiceInformers, watchServiceCidrs, type Informers } from './informers.ts'
import { ClusterLifelines } from './lifelines.ts'
import { judgeReadiness, type Readiness } from './readiness.ts'
import { createConnectionReporter, createRefusalReporter, createReporter } from './reporter.ts'
import { readNodeParameters } from './node-parameters.ts'
import { version } from './version.ts'

/** Upstream's name of the daemon, as events show it. */
const component = 'kube-ovn-cni'

function unsyncedOf({ pods, nodes, subnets, networks, vlans, ovnEips }: Informers): readonly string[] {
  return Object.entries({ pods, nodes, subnets, networks, vlans, ovnEips }).flatMap(([name, { health }]) =>
    health.isSynced ? [] : [name],
  )
}

/**
 * Constructs the agent and runs it until `signal` is aborted.
 *
 * Nothing here waits for something that may be late: database, API server and features come up in any order, and
 * what needs another part is triggered when that changes. Stopping takes nothing down: pods keep their network.
 */
export async function runAgent(
  config: AgentConfig,
  log: Logger,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const nodeName = (config.nodeName === '' ? hostname() : config.nodeName).toLowerCase()
  const metrics = agentMetrics(registry, nodeName)
  nodeParameterMetrics(registry, nodeName, readNodeParameters)

  const access = await loadAccess(config.kubeconfig)
  const client = stack.use(
    new KubeClient(access, {
      userAgent: `${component}/${version}`,
      onAnswer: clientMetrics(registry),
    }),
  )
  const informers = createInformers(client, { nodeName, keepsProbes: config.enableTproxy }, log)
  const watched = config.replaceKubeProxy ? createServiceInformers(client, log) : undefined
  const ovs = stack.use(
    new OvsdbClient<OpenVswitch>({
      endpoints: [`unix:${config.ovsSocket}`],
      schema: openVswitchSchema,
      tables: localOvsTables,
    }),
  )
  const connection = { client: ovs, db: openVswitchSchema.name, clock: systemClock, log }
  stack.use(new DatabaseConnection({ ...connection, metrics: databaseMetrics(registry) }))
  const host = stack.use(openNetlink())
  const tunnelMtu = new Observable<number | undefined>(undefined)
  const shared = { ovs, clock: systemClock, log, random: Math.random }

  const recorder = stack.use(
    new EventRecorder({ client, clock: systemClock, logger: log, component, instance: nodeName }),
  )
  const podKernel = { host, open: openNetlink, writeSysctl, announce: announceAddresses }
  const podNics = stack.use(
    new PodNics({
      ...shared,
      kernel: podKernel,
      pods: informers.pods,
      subnets: informers.subnets,
      nodes: informers.nodes,
      nodeName,
      tunnelMtu,
      reporter: createReporter(recorder, informers.pods.store, metrics, nodeName),
    }),
  )
  function readiness(): Readiness {
    return judgeReadiness({
      isDatabaseConnected: ovs.state.phase === 'connected',
      unsynced: unsyncedOf(informers),
      isTunnelKnown: tunnelMtu.value !== undefined,
      isNodeNicInstalled: isInstalled(findInterface(ovs, nodeNicName)),
    })
  }
  const secure = await openSecureServing({ config, hosts: config.podIps, client, log, clock: systemClock })
  if (secure !== undefined) stack.use(secure)
  stack.use(
    await serveHealth({
      addresses: bindAddresses(config.enableBindLocalIp, config.podIps),
      port: config.pprofPort,
      secure,
      ...(config.enableMetrics ? { registry } : {}),
      readiness: () => readiness().reasons,
      liveness: () => [],
    }),
  )
  stack.use(await answerConnectionChecks(config, log))
  stack.use(
    await serveApi({
      socketPath: config.bindSocket,
      handlers: createHandlers(podNics, readiness),
      onAnswered(path, status, ms) {
        metrics.answered(path, status, ms)
        log.debug('request answered', { path, status, ms: Math.round(ms) })
      },
    }),
  )

  for (const informer of [
    informers.pods,
    informers.nodes,
    informers.subnets,
    informers.networks,
    informers.vlans,
    informers.ovnEips,
    ...(watched === undefined ? [] : [watched.services, watched.slices]),
  ]) {
    informer.start(signal)
    stack.use<AsyncDisposable>(informer)
  }
  ovs.connect(signal).catch(() => undefined)
  const serviceCidrs = await watchServiceCidrs(client, log, signal)
  if (serviceCidrs !== undefined) stack.use(serviceCidrs)
  const kernel = stack.use(
    createNodeKernel({
      ...shared,
      agent: {
        nodeName,
        clusterRouter: config.clusterRouter,
        nodeSwitch: config.nodeSwitch,
        fallbackServicePrefixes: config.serviceClusterIpRange,
        tunnel: {
          networkType: config.networkType,
          mtu: config.mtu,
          iface: config.iface,
          dpdkTunnelIface: config.dpdkTunnelIface,
          acceptsHostMasks: config.hostTunnelSrc,
          hasEncapChecksum: config.encapChecksum,
          podIp: config.podIp,
        },
        mirror: { isOfAll: config.enableMirror, link: config.mirrorIface },
        samples: { set: config.aclSampleCollectorSet, targets: config.aclSampleTargets },
        hasMacLearningFallback: config.macLearningFallback,
        servesServices: config.replaceKubeProxy,
        reachesVpcs: config.enableTproxy,
      },
      nodes: informers.nodes,
      subnets: informers.subnets,
      networks: informers.networks,
      vlans: informers.vlans,
      ovnEips: informers.ovnEips,
      pods: informers.pods,
      serviceCidrs,
      bridges: {
        flowOf,
        open: (bridge, listeners) =>
          BridgeConnection.open(join(dirname(config.ovsSocket), `${bridge}.mgmt`), 10_000, listeners),
      },
      namespaces: {
        ...{ create: holdFreshNamespace, open: openNetlink, readSysctl, writeSysctl },
        speakBfd: (timers, dependencies) => new BfdMonitor([], timers, dependencies),
      },
      macTables: new MacTables({
        pidFile: join(dirname(config.ovsSocket), 'ovs-vswitchd.pid'),
        timeoutMs: 10_000,
      }),
      services: watched?.services,
      slices: watched?.slices,
      flows: stack.use(openFlows()),
      listen: (server, port) => void server.listen(port),
      podNics,
      async patchNode(patch, subresource) {
        const { resource } = informers.nodes
        const type = 'application/strategic-merge-patch+json'
        const options = subresource === undefined ? {} : { subresource }
        informers.nodes.observe(await client.patch(resource, { name: nodeName }, type, patch, options))
      },
      host,
      tunnelMtu,
      announce: announceAddresses,
      onAnnounceFailed: () => metrics.announceFailed(),
      netfilter: openNetfilter(),
      sysctls: {
        readSysctl: (key) => readSysctl(undefined, key),
        writeSysctl: (key, value) => writeSysctl(undefined, key, value),
      },
      probations: new ProbationFiles(probationFolder, isKeptNic, log),
      lifelines: new ClusterLifelines(access.server, ovs, systemClock),
      onConnection: createConnectionReporter(recorder, informers, nodeName),
      metrics: fragmentMetrics(registry),
      onRefused: createRefusalReporter(
        recorder,
        {
          ...{ nodes: informers.nodes.store, pods: informers.pods.store },
          subnets: informers.subnets.store,
        },
        nodeName,
      ),
    }),
  )
  const hostEnds = stack.use(new HostEnds({ ...shared, kernel: podKernel }))
  // A feature that decides by many objects must not decide by half of them.
  await Promise.all([
    informers.nodes.synced,
    informers.subnets.synced,
    informers.networks.synced,
    informers.vlans.synced,
    informers.ovnEips.synced,
    informers.pods.synced,
    watched?.services.synced,
    watched?.slices.synced,
  ])
  kernel.start()
  hostEnds.start()
  log.info('agent started', { node: nodeName })
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
