import { vpcResource } from '@kube-ovn/kube-api'
import { balancerGroup, balancerGroupName, loadBalancer } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import {
  balancerFlags,
  filledBalancers,
  groupsInUse,
  ownBalancers,
  serviceWatch,
  sliceWatch,
} from '@kube-ovn/domains-control/services'
import { comesOrGoes, vpcSays } from '@kube-ovn/domains-control/topology'
import { desiredBalancers, saidOf, type BalancersSnapshot } from './desired.ts'
import { observeBalancers } from './snapshot.ts'

/** Keeps the load balancers of each VPC. What is in them is the business of each Service. */
export const loadBalancers: ControlFeature<string, BalancersSnapshot> = {
  name: 'load-balancer',
  kinds: [loadBalancer, balancerGroup],
  // Flags say how load balancers of the default VPC are called.
  mayOwn: (vpc, { kind, id }) => kind !== balancerGroup.name || id === balancerGroupName(vpc),
  flags: balancerFlags,
  watches: [serviceWatch, sliceWatch],
  tables: [ownBalancers, filledBalancers, groupsInUse],
  rights: [{ resource: vpcResource, subresource: 'status', verbs: ['patch'] }],
  triggers: [{ on: 'object', resource: vpcResource, keys: comesOrGoes }, vpcSays(saidOf)],
  // Subnets keep what belongs to Vpcs that are gone.
  initialKeys: ({ settings, attachments }) =>
    new Set([settings.clusterRouter, ...attachments.scan().flatMap(({ vpc }) => (vpc === '' ? [] : [vpc]))]),
  observe: observeBalancers,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredBalancers(snapshot)),
}
