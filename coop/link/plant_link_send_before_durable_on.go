//go:build plant_link_send_before_durable

package link

const plantSendBeforeDurable = true
