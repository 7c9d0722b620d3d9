export const group = 'kubeovn.io'
export const version = 'v1'
export const apiVersion = `${group}/${version}`
