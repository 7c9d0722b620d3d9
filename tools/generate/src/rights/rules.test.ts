import { ipResource, vpcResource } from '@kube-ovn/kube-api'
import { configMaps, customResourceDefinitions, pods } from '@kube-ovn/kube-api/core'
import { expect, it } from 'vitest'
import { placedRulesOf, renderConditional, renderRules } from './rules.ts'

const none = { watches: [], tables: [], lookups: [], rights: [] }

it('lists and watches what is watched, reads again what is patched, and says alike rights once', () => {
  const declarations = {
    ...none,
    watches: [{ resource: vpcResource }, { resource: pods }, { resource: ipResource }],
    rights: [
      { resource: vpcResource, verbs: ['patch'] },
      { resource: vpcResource, subresource: 'status', verbs: ['patch'] },
      { resource: ipResource, verbs: ['patch'] },
      { resource: ipResource, verbs: ['patch'] },
    ],
  } as const
  expect(renderRules(placedRulesOf(declarations, []).cluster)).toBe(
    [
      "  - apiGroups: ['']",
      '    resources: [pods]',
      '    verbs: [list, watch]',
      '  - apiGroups: [kubeovn.io]',
      '    resources: [ips, vpcs]',
      '    verbs: [get, list, patch, watch]',
      '  - apiGroups: [kubeovn.io]',
      '    resources: [vpcs/status]',
      '    verbs: [patch]',
      '',
    ].join('\n'),
  )
})

it('keeps rights on some objects to these', () => {
  const own = [{ resource: customResourceDefinitions, verbs: ['watch', 'get'], names: ['vpcs.kubeovn.io'] }]
  expect(placedRulesOf({ ...none, watches: [{ resource: pods }] }, own).cluster).toContainEqual({
    group: 'apiextensions.k8s.io',
    resources: ['customresourcedefinitions'],
    names: ['vpcs.kubeovn.io'],
    verbs: ['get', 'watch'],
  })
})

it('keeps what is about the own namespace to it', () => {
  const watches = [{ resource: pods }, { resource: configMaps, namespace: 'own' }] as const
  const rights = [
    { resource: configMaps, namespace: 'own', verbs: ['create', 'patch'] },
    { resource: pods, verbs: ['patch'] },
  ] as const
  const { cluster, namespace } = placedRulesOf({ watches, rights }, [])
  expect(cluster).toEqual([{ group: '', resources: ['pods'], verbs: ['get', 'list', 'patch', 'watch'] }])
  const all = ['create', 'get', 'list', 'patch', 'watch']
  expect(namespace).toEqual([{ group: '', resources: ['configmaps'], verbs: all }])
})

it('gives what is for a value of the chart with that alone', () => {
  const rights = [
    { resource: configMaps, onlyWith: 'features.some', verbs: ['create', 'patch'] },
    { resource: pods, verbs: ['patch'] },
  ] as const
  const { cluster, conditional } = placedRulesOf({ watches: [], rights }, [])
  expect(cluster).toEqual([{ group: '', resources: ['pods'], verbs: ['get', 'patch'] }])
  expect(renderConditional(conditional)).toBe(
    [
      '  {{- if .Values.features.some }}',
      "  - apiGroups: ['']",
      '    resources: [configmaps]',
      '    verbs: [create, get, patch]',
      '  {{- end }}',
      '',
    ].join('\n'),
  )
})
