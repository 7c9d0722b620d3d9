import { podAnnotations } from '@kube-ovn/annotations'
import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { subnet } from '@kube-ovn/testing-builders'
import type { ControlCluster } from './control-cluster.ts'
import type { Controller } from './controller.ts'
import type { Stack } from './stacks.ts'

/** For pods that are to be in the subnet. */
export const inBlue: Readonly<Record<string, string>> = { [podAnnotations().logicalSwitch.key]: 'blue' }

/** Starts a controller that is done with the subnet `blue`. */
export async function startWithBlue(
  cluster: ControlCluster,
  { cidr }: Stack,
  excludeIps: readonly string[] = [],
): Promise<Controller> {
  await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: cidr, excludeIps }))
  return cluster.startSettled()
}

export async function readBlue({ client }: ControlCluster): Promise<Subnet | undefined> {
  return client.get(subnetResource, { name: 'blue' })
}

/** Makes pods in the subnet one after the other, so that it is known who comes first. */
export async function createInBlue(
  { user }: ControlCluster,
  control: Controller,
  names: readonly string[],
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const name of names) {
    await user.createPod({ name, annotations: { ...inBlue, ...annotations } })
    await control.settle()
  }
}
