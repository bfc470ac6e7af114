//go:build !plant_fold_fence

package fold

const plantFence = false
