import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { clientMetrics } from './client-metrics.ts'

it('counts requests by kind of objects, whatever namespaces and names there are', async () => {
  const registry = new Registry()
  const answered = clientMetrics(registry)
  const common = { host: '10.96.0.1:443', ms: 3 }
  const paths = [
    '/api/v1/namespaces/shop/pods/web-0',
    '/api/v1/namespaces/stock/pods/db-0/status',
    '/api/v1/namespaces/shop/pods?limit=500',
    '/api/v1/namespaces/shop',
    '/apis/kubeovn.io/v1/subnets/blue/status',
    '/version',
  ]
  for (const path of paths) answered({ ...common, method: 'GET', path, status: 200 })
  answered({ ...common, method: 'GET', path: '/api/v1/pods', status: undefined })
  const page = await registry.metrics()
  const urls = [...page.matchAll(/latency_seconds_count\{verb="GET",url="([^"]+)"\} (\d+)/g)].map(
    ([, url, count]) => `${url} ${count}`,
  )
  expect(urls).toEqual([
    '/api/v1/namespaces/{namespace}/pods 3',
    '/api/v1/namespaces 1',
    '/apis/kubeovn.io/v1/subnets 1',
    '/version 1',
  ])
  expect(page).toContain('rest_client_requests_total{code="200",method="GET",host="10.96.0.1:443"} 6')
  expect(page).toContain('rest_client_requests_total{code="<error>",method="GET",host="10.96.0.1:443"} 1')
})
