import { expect, it } from 'vitest'
import { readReport } from './conformance.ts'

const spec = {
  ContainerHierarchyTexts: ['[sig-network] Proxy', 'version v1'],
  LeafNodeType: 'It',
  LeafNodeText: 'should proxy',
  State: 'passed',
  RunTime: 1_500_000_000,
}
const preparation = {
  ...spec,
  ContainerHierarchyTexts: null,
  LeafNodeType: 'SynchronizedBeforeSuite',
  LeafNodeText: '',
}

const outcomesOf = (...specs: readonly object[]) => readReport(JSON.stringify([{ SpecReports: specs }]))

it('tells the outcome and the time of each spec by its full name', () => {
  const failed = {
    ...spec,
    LeafNodeText: 'should fail',
    State: 'failed',
    Failure: { Message: 'no answer' },
    CapturedGinkgoWriterOutput: 'asks',
  }
  expect(outcomesOf(spec, failed)).toEqual([
    { name: '[sig-network] Proxy version v1 should proxy', state: 'passed', seconds: 1.5, failure: '' },
    {
      name: '[sig-network] Proxy version v1 should fail',
      state: 'failed',
      seconds: 1.5,
      failure: 'no answer\nasks',
    },
  ])
})

it('leaves out what was not asked for, but not what said itself that it can not be run', () => {
  const other = { ...spec, State: 'skipped' }
  expect(outcomesOf(other)).toEqual([])
  const unable = { ...other, Failure: { Message: 'needs three nodes' } }
  expect(outcomesOf(unable)).toMatchObject([{ state: 'skipped', failure: 'needs three nodes' }])
})

it('tells of what is run once for all only what failed', () => {
  expect(outcomesOf(preparation, spec)).toHaveLength(1)
  const failed = { ...preparation, State: 'failed', Failure: { Message: 'no node is ready' } }
  expect(outcomesOf(failed)).toMatchObject([
    { name: 'SynchronizedBeforeSuite', state: 'failed', failure: 'no node is ready' },
  ])
})
