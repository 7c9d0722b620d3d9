import { basename } from 'node:path'

/** Something that runs on a machine of the lab and can be broken by itself. */
export const components = [
  'controller',
  'agent',
  'ovn-controller',
  'vswitchd',
  'ovsdb-server',
  'northd',
  'northbound',
  'southbound',
  'containerd',
  'kubelet',
  'kube-proxy',
  'apiserver',
  'etcd',
  'controller-manager',
  'scheduler',
] as const
export type Component = (typeof components)[number]

/** What a component is made of. */
export interface ComponentTraits {
  /** The lab itself runs it, under this name, and can keep it from coming back; others belong to pods. */
  readonly daemon?: string
  /** The pods that hold it, by their label `app`. */
  readonly app?: string
  /** Where it keeps what must survive it, on its machine. */
  readonly dataDirectory?: string
  /** The files that it writes to, told by their names, if its disk can be slow. */
  readonly writes?: RegExp
  /** Its process, told by the arguments it was started with. */
  matches(command: readonly string[]): boolean
}

/** A program that is told by its name alone. */
function program(name: string): (command: readonly string[]) => boolean {
  return ([path = '']) => basename(path) === name
}

/** A script or server that is told by a file that it was given. */
function programWith(name: string, file: RegExp): (command: readonly string[]) => boolean {
  return ([path = '', ...rest]) => basename(path) === name && rest.some((word) => file.test(word))
}

const ovnDirectory = '/etc/origin/ovn'

const ovsdbFile = /\.db$/

export const componentTraits: Readonly<Record<Component, ComponentTraits>> = {
  controller: { app: 'kube-ovn-controller', matches: programWith('node', /\/controller\.mjs$/) },
  agent: { app: 'kube-ovn-cni', matches: programWith('node', /\/cni-agent\.mjs$/) },
  'ovn-controller': { app: 'ovs', matches: program('ovn-controller') },
  vswitchd: { app: 'ovs', matches: program('ovs-vswitchd') },
  'ovsdb-server': {
    app: 'ovs',
    dataDirectory: '/etc/origin/openvswitch',
    writes: ovsdbFile,
    matches: programWith('ovsdb-server', /\/conf\.db$/),
  },
  northd: { app: 'ovn-central', matches: program('ovn-northd') },
  northbound: {
    app: 'ovn-central',
    dataDirectory: ovnDirectory,
    writes: ovsdbFile,
    matches: programWith('ovsdb-server', /\/ovnnb_db\.db$/),
  },
  southbound: {
    app: 'ovn-central',
    dataDirectory: ovnDirectory,
    writes: ovsdbFile,
    matches: programWith('ovsdb-server', /\/ovnsb_db\.db$/),
  },
  containerd: { daemon: 'containerd', matches: program('containerd') },
  kubelet: { daemon: 'kubelet', matches: program('kubelet') },
  'kube-proxy': { daemon: 'kube-proxy', matches: program('kube-proxy') },
  apiserver: { daemon: 'kube-apiserver', matches: program('kube-apiserver') },
  etcd: {
    daemon: 'etcd',
    dataDirectory: '/var/lib/etcd',
    // The log that has what was committed, before the store has it.
    writes: /\.wal$/,
    matches: program('etcd'),
  },
  'controller-manager': {
    daemon: 'kube-controller-manager',
    matches: program('kube-controller-manager'),
  },
  scheduler: { daemon: 'kube-scheduler', matches: program('kube-scheduler') },
}
