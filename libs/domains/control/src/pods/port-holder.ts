import { nodePortName, podPortName } from '@kube-ovn/ovn-names'
import { storeIndex } from '../watched-kinds.ts'
import type { ControlWorld } from '../world.ts'
import { needsPort } from './alive.ts'

/** Whose port has the name: a pod's, a machine's or a node's, if it is there or its addresses are recorded. */
export function portHolder(port: string, world: ControlWorld): string | undefined {
  const node = port.slice(nodePortName('').length)
  if (port === nodePortName(node) && world.nodes.get(node) !== undefined) return `node ${node}`
  const dot = port.lastIndexOf('.')
  const [name, namespace] = [port.slice(0, Math.max(dot, 0)), port.slice(dot + 1)]
  const key = `${namespace}/${name}`
  const pods = [world.pods.get(key), ...world.pods.find(storeIndex.podsByMachine, key)]
  const isOfPod = port === podPortName(namespace, name) && pods.some((pod) => pod && needsPort(pod))
  if (isOfPod) return `pod ${key}`
  const record = world.ips.get(port)?.spec
  return record && `pod ${record.namespace ?? ''}/${record.podName ?? ''}`
}
