import { watched, type WatchedStores } from '@kube-ovn/features-control'
import { Informer } from '@kube-ovn/kube'
import type { KubeClient } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'

/** Makes an informer for each resource that the features decide by. */
export function createInformers(client: KubeClient, logger: Logger) {
  const common = { client, clock: systemClock, logger }
  return {
    pods: new Informer({ ...common, ...watched.pods }),
    nodes: new Informer({ ...common, ...watched.nodes }),
    namespaces: new Informer({ ...common, ...watched.namespaces }),
    subnets: new Informer({ ...common, ...watched.subnets }),
    vpcs: new Informer({ ...common, ...watched.vpcs }),
    ips: new Informer({ ...common, ...watched.ips }),
    ipPools: new Informer({ ...common, ...watched.ipPools }),
    vips: new Informer({ ...common, ...watched.vips }),
    statefulSets: new Informer({ ...common, ...watched.statefulSets }),
    deployments: new Informer({ ...common, ...watched.deployments }),
    daemonSets: new Informer({ ...common, ...watched.daemonSets }),
    jobs: new Informer({ ...common, ...watched.jobs }),
    networkAttachments: new Informer({ ...common, ...watched.networkAttachments }),
    machines: new Informer({ ...common, ...watched.machines }),
    machineInstances: new Informer({ ...common, ...watched.machineInstances }),
    machineMigrations: new Informer({ ...common, ...watched.machineMigrations }),
  }
}

export function storesOf(informers: ReturnType<typeof createInformers>): WatchedStores {
  const { pods, nodes, namespaces, subnets, vpcs, ips, ipPools, vips } = informers
  const { statefulSets, deployments, daemonSets, jobs } = informers
  const { networkAttachments, machines, machineInstances, machineMigrations } = informers
  return {
    pods: pods.store,
    nodes: nodes.store,
    namespaces: namespaces.store,
    subnets: subnets.store,
    vpcs: vpcs.store,
    ips: ips.store,
    ipPools: ipPools.store,
    vips: vips.store,
    statefulSets: statefulSets.store,
    deployments: deployments.store,
    daemonSets: daemonSets.store,
    jobs: jobs.store,
    networkAttachments: networkAttachments.store,
    machines: machines.store,
    machineInstances: machineInstances.store,
    machineMigrations: machineMigrations.store,
  }
}
