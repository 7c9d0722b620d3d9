import { presets } from '@kube-ovn/lab'
import { testFirstLine } from './test-first-line.ts'

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

testFirstLine(
  'two nodes without kube-proxy, whose agents serve Services',
  { id: 'no-proxy', ...presets['no-kube-proxy'] },
  isDeep ? undefined : 'it takes a lab of its own, and minutes: KUBE_OVN_DEEP=1 runs it',
)
